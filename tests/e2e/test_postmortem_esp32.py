"""A firmware for the ESP32 that is built to misbehave: its exception vectors have to tell how it ended, and where."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.bench.boards import load_board
from harness.estimate import read_model
from harness.session import RunOptions, open_session
from tests.support import esp32_probe
from tests.support.misdeeds import ARENA, GUARD, HANG, STACK, by_first_byte

pytest.importorskip("esptool", reason="the extra `esp32` is not installed")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.xdist_group("esp32"),
    # In pySerial's RFC 2217 client.
    pytest.mark.filterwarnings("ignore:set(Daemon|Name).*:DeprecationWarning"),
]


@pytest.fixture(scope="module")
def run(example):
    esp32_probe.require_emulator()
    board = replace(load_board("esp32-virtual"), watchdog_s=1.0, defines={"HARNESS_TEST_FAULTS": "1"})
    model = read_model(example("hello_world.tflite"))
    with open_session(board, RunOptions(), lambda *_: None) as session:
        yield by_first_byte(session, model)


@pytest.fixture(autouse=True)
def _good_run_after_each(run):
    yield
    assert run(0).verdict == "ok"


@pytest.mark.parametrize(
    ("misdeed", "error_class", "function"),
    [(ARENA, "DeviceFaultError", "OverrunArena"), (STACK, "StackOverflowError", "OverrunStack")],
)
def test_a_death_is_named_with_function_and_line(run, misdeed, error_class, function):
    row = run(misdeed)
    assert (row.verdict, row.error_class) == ("fail", error_class)
    assert row.postmortem.pc.function == f"harness::{function}"
    assert row.postmortem.pc.file == "app/misbehave.cc"
    assert (row.postmortem.operator.index, row.postmortem.operator.name) == (1, "FULLY_CONNECTED")


def test_the_first_bad_address_is_told(run):
    found = run(ARENA).postmortem
    fault = found.fault
    assert (fault.kind, fault.text) == ("bus_fault", "LoadStoreError")
    assert list(fault.registers) == ["pc", "lr", "sp", "ps", "vector", "exccause", "excvaddr"]
    assert (fault.registers["vector"], fault.registers["exccause"]) in {(0x300, 3), (0x340, 3)}
    assert fault.registers["excvaddr"] == found.fault_address == 0x40000000  # behind the arena, and behind the data RAM
    assert found.fault_words[0].startswith("LoadStoreError: ")


def test_a_hang_is_ended_by_the_watchdog(run):
    row = run(HANG)
    assert (row.verdict, row.error_class) == ("fail", "WatchdogError")


def test_a_write_that_nothing_dies_of_is_named(run):
    row = run(GUARD)
    assert row.verdict == "fail"
    assert "1 bytes written into the guard above the arena" in row.causes[0]
