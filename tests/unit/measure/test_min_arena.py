import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.device.talk import Device, Patience
from harness.domain.recipe import Recipe
from harness.errors import DeadlineError, ForeignHandError
from harness.measure.min_arena import STEP_BYTES, find_min_arena, search
from tests.support.scripted import ALLOCATED, FAULT, SCANNED, SUBJECT, ScriptedLine


def device_with(minimum):
    """Attempts, and the sizes that were tried."""
    tried = []

    def attempt(size):
        tried.append(size)
        return None if size >= minimum else "too small"

    return attempt, tried


@given(st.integers(1, 100_000), st.integers(0, 30_000), st.none() | st.integers(0, 130_000))
def test_the_result_works_and_four_bytes_less_do_not(minimum, more, guess):
    works = (minimum + more + 3) // 4 * 4
    attempt, tried = device_with(minimum)
    found = search(attempt, works, guess)
    assert found.size_bytes >= minimum
    assert found.size_bytes - STEP_BYTES < minimum
    assert all(0 < size < works for size in tried)


def test_an_exact_guess_takes_two_attempts():
    attempt, tried = device_with(1100)
    assert search(attempt, 110_000, 1100).size_bytes == 1100
    assert tried == [1100, 1096]


def test_the_failure_is_that_of_the_size_just_below():
    failures = {1096: "AllocateTensors", 1092: "hang"}
    found = search(lambda size: failures.get(size, "worse") if size < 1100 else None, 4096, None)
    assert (found.size_bytes, found.failure) == (1100, "AllocateTensors")


def reset_by_watchdog(line):
    line.boot(reset="watchdog")
    return b""


TROUBLES = {
    "error": ("allocate", lambda line: line.frame({**ALLOCATED, "status": "error"})),
    "fault": ("invoke", lambda line: line.frame(FAULT)),
    "silence": ("invoke", lambda line: b""),
    "reset": ("invoke", reset_by_watchdog),
    "overrun": ("scan", lambda line: line.frame({**SCANNED, "guard_low_written_bytes": 1})),
}


@pytest.mark.parametrize("trouble", TROUBLES)
def test_every_way_to_fail_counts_as_too_small(trouble):
    name, answer = TROUBLES[trouble]
    size = [0]

    def script(line, command):
        size[0] = command.get("arena_bytes", size[0])
        return answer(line) if size[0] < 1236 and command["cmd"] == name else None

    line = ScriptedLine(script)
    device = Device(line, line.reset, Patience(0.05, 0.05, 0.05))
    found = find_min_arena(device, SUBJECT, Recipe(), 4096, None)
    assert found.size_bytes == 1236
    assert found.failure


def reset_by_debugger(line):
    line.boot(reset="debugger")
    return b""


@pytest.mark.parametrize("command", ["allocate", "invoke", "scan"])
def test_somebody_else_s_reset_says_nothing_about_the_size(command):
    line = ScriptedLine(lambda line, said: reset_by_debugger(line) if said["cmd"] == command else None)
    device = Device(line, line.reset, Patience(0.05, 0.05, 0.05))
    with pytest.raises(ForeignHandError):
        find_min_arena(device, SUBJECT, Recipe(), 4096, None)


def test_a_device_that_no_longer_starts_says_nothing_about_the_size():
    line = ScriptedLine()

    def reset():
        if line.resets < 2:
            line.reset()

    device = Device(line, reset, Patience(0.05, 0.05, 0.05))
    with pytest.raises(DeadlineError, match="silent"):
        find_min_arena(device, SUBJECT, Recipe(), 4096, None)


def test_a_probe_that_hangs_says_nothing_about_the_size():
    line = ScriptedLine()

    def reset():
        raise DeadlineError("the probe hung")

    device = Device(line, reset, Patience(0.05, 0.05, 0.05))
    with pytest.raises(DeadlineError, match="probe hung"):
        find_min_arena(device, SUBJECT, Recipe(), 4096, None)
