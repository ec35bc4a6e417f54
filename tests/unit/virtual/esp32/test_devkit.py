from __future__ import annotations

from harness.virtual.esp32.devkit import AutoReset


def states(*lines: tuple[bool, bool]) -> list[tuple[bool, bool]]:
    """EN and the boot strap after each setting of DTR and RTS."""
    circuit = AutoReset()
    found = []
    for moment, (dtr, rts) in enumerate(lines):
        circuit.set_lines(moment / 10, dtr=dtr, rts=rts)
        found.append((circuit.enabled, circuit.download_strap))
    return found


def test_each_setting_of_the_lines():
    assert states((False, False)) == [(True, False)]
    assert states((True, False)) == [(True, True)]
    assert states((False, True)) == [(False, False)]
    assert states((True, True)) == [(True, False)]


def test_esptools_reset_one_line_at_a_time_ends_in_a_download():
    assert states((False, True), (True, True), (True, False)) == [(False, False), (False, False), (True, True)]


def test_a_hard_reset_starts_what_is_in_flash():
    assert states((False, True), (False, False)) == [(False, False), (True, False)]


def test_opening_a_port_one_line_at_a_time_resets_nothing():
    assert all(enabled for enabled, _ in states((True, False), (True, True)))


def test_a_reset_that_is_held_ends_by_itself():
    circuit = AutoReset()
    circuit.set_lines(0.0, dtr=False, rts=True)
    circuit.set_lines(0.1, dtr=True, rts=True)
    deadline = circuit.deadline
    assert deadline is not None
    circuit.elapse(deadline - 0.01)
    assert not circuit.enabled
    circuit.elapse(deadline)
    assert circuit.enabled
    assert circuit.deadline is None
