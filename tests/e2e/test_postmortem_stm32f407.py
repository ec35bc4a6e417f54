"""A firmware built to misbehave: each misdeed has to be named, with function and line."""

import re
from pathlib import Path

import pytest

from harness.bench.boards import load_board
from harness.estimate import read_model
from harness.files.resources import firmware_dir
from harness.results.postmortem_file import read_postmortem
from harness.session import RunOptions, open_session
from tests.support.boards import BOARD
from tests.support.misdeeds import ARENA, ARENA_BYTES, GAP, GUARD, HANG, STACK, by_first_byte


@pytest.fixture(scope="module")
def misbehaving_board(tmp_path_factory):
    path = tmp_path_factory.mktemp("board") / "misbehaving.toml"
    path.write_text(f'base = "{BOARD}"\nbuild.defines.HARNESS_TEST_FAULTS = "1"\nwatchdog.timeout_s = 1.0\n')
    return path


@pytest.fixture(scope="module")
def run(misbehaving_board, needs_firmware, example):
    model = read_model(example("hello_world.tflite"))
    with open_session(load_board(str(misbehaving_board)), RunOptions(), lambda *_: None) as session:
        yield by_first_byte(session, model)


@pytest.fixture(autouse=True)
def _good_run_after_each(run):
    yield
    assert run(0).verdict == "ok"


def line_of(function):
    """Where a function of misbehave.cc begins and ends."""
    lines = (firmware_dir() / "app" / "misbehave.cc").read_text().splitlines()
    start = next(number for number, line in enumerate(lines, 1) if f" {function}(" in line and "noinline" in line)
    end = next(number for number, line in enumerate(lines, 1) if number > start and line == "}")
    return range(start, end + 1)


@pytest.mark.parametrize(
    ("misdeed", "error_class", "function", "suspect"),
    [
        (ARENA, "OverrunError", "OverrunArena", "arena"),
        (STACK, "StackOverflowError", "OverrunStack", "stack"),
        (HANG, "WatchdogError", "Hang", "model"),
    ],
)
def test_a_death_is_named_with_function_and_line(run, misdeed, error_class, function, suspect):
    row = run(misdeed)
    assert (row.verdict, row.error_class) == ("fail", error_class)
    found = row.postmortem
    assert found.pc.function == f"harness::{function}"
    assert found.pc.file == "app/misbehave.cc"
    assert found.pc.line in line_of(function)
    assert (found.operator.index, found.operator.name) == (1, "FULLY_CONNECTED")
    assert found.kernel.function == "tflite::ops::micro::fully_connected::Eval"
    assert found.kernel.file.endswith("kernels/fully_connected.cc")
    assert found.suspect == suspect
    assert found.probe_trouble == ""
    assert "pc" in found.registers
    assert found.arena.size_bytes == ARENA_BYTES
    assert any(f"{function} (app/misbehave.cc:" in cause for cause in row.causes)


def test_the_calls_lead_from_the_command_to_the_kernel(run):
    functions = [call.function for call in run(HANG).postmortem.calls]
    path = ["tflm::RunWatched", "tflite::MicroInterpreter::Invoke", "harness::AnswerInvoke", "harness::RunFirmware"]
    assert [function for function in functions if function in path] == path


@pytest.mark.parametrize(
    ("misdeed", "place"), [(GUARD, "1 bytes written into the guard above the arena"), (GAP, "the free middle")]
)
def test_a_write_that_nothing_dies_of_is_named_with_its_operator(run, misdeed, place):
    row = run(misdeed)
    assert row.verdict == "fail"
    assert place in row.causes[0]
    assert re.search(r"operator 1 FULLY_CONNECTED, kernel \S+Eval \(\S+fully_connected\.cc:\d+\)", row.causes[1])


def test_the_post_mortem_is_kept_and_shown(harness, misbehaving_board, example, tmp_path):
    data = tmp_path / "hang.bin"
    data.write_bytes(bytes([HANG, 0, 0, 0]))
    model = example("hello_world.tflite")
    ended = harness("run", model, "--board", misbehaving_board, "--input", data, "--format", "json")
    assert ended.status == 1, ended.err
    (row,) = ended.rows
    path = Path(row["causes"][-1].removeprefix("all that was found: harness postmortem "))
    assert read_postmortem(path).pc.function == "harness::Hang"
    shown = harness("postmortem", path)
    path.unlink()
    assert shown.status == 0
    assert "it died in harness::Hang (app/misbehave.cc:" in shown.out
    assert "guard above" in shown.out
