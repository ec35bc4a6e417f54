"""The command's own part of a sweep: its words, and what people see meanwhile."""

import io
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from rich.console import Console

from harness.cli.sweep import command
from harness.cli.sweep_progress import SweepProgress
from harness.cli.sweeping import parse_units, plan_from
from harness.domain.attempt import Circumstances, Job
from harness.domain.reconciliation import RowSubject
from harness.errors import ProbeError, ResultError, UsageError
from harness.results.reconcile import without_measurement
from harness.sweep.dut_runner import Outcome
from harness.sweep.plan import SweepPlan

BOARD = "stm32f407-virtual"
NOTHING_ASKED = SweepPlan(tflm=(), arenas=())
JOB = Job(1, "kws.tflite", "/kws.tflite", "ab" * 32, BOARD, "crate", 4096)


def test_further_models_after_models_option_are_models():
    asked = SweepPlan((Path("a.tflite"),), (f"{BOARD},stm32f407-black",), (), ())
    plan = plan_from((Path("b.tflite"), Path("c.tflite")), asked)
    assert plan.models == (Path("a.tflite"), Path("b.tflite"), Path("c.tflite"))
    assert plan.boards == (BOARD, "stm32f407-black")
    assert (plan.tflm, plan.arenas) == (("crate",), (None,))


def test_options_come_before_the_plan_file(tmp_path):
    path = tmp_path / "plan.toml"
    path.write_text(f'models = ["x.tflite"]\nboards = ["{BOARD}"]\narena_size_bytes = [4096]\n[units]\n{BOARD} = 2\n')
    plan = plan_from((path,), SweepPlan((), (), ("other",), (8192,), units={BOARD: 3}))
    assert plan.models == (tmp_path / "x.tflite",)
    assert (plan.boards, plan.tflm, plan.arenas, plan.units) == ((BOARD,), ("other",), (8192,), {BOARD: 3})
    assert plan_from((path,), NOTHING_ASKED).units == {BOARD: 2}


def test_without_boards_those_that_there_are_units_for_are_meant(tmp_path):
    bench = tmp_path / "bench.toml"
    bench.write_text('[[dut]]\nboard = "stm32f407-discovery"\n')
    plan = plan_from((Path("a.tflite"),), replace(NOTHING_ASKED, bench=bench, units={BOARD: 2}))
    assert plan.boards == ("stm32f407-discovery", BOARD)


def test_two_plan_files_are_refused():
    with pytest.raises(UsageError, match="several plan files"):
        plan_from((Path("a.toml"), Path("b.toml")), NOTHING_ASKED)


@pytest.mark.parametrize("word", ["", "=2", "x=", "x=two", "x=-1", "x=0", "x=00", "x=\u0662", "x=" + "9" * 5000])
def test_what_is_no_number_of_units(word):
    with pytest.raises(UsageError, match="no number of units"):
        parse_units([word])


def test_a_number_of_units_is_one_unless_said_otherwise():
    assert parse_units([BOARD, "my=board.toml=3"]) == {BOARD: 1, "my=board.toml": 3}


def run(*arguments):
    return CliRunner().invoke(command, list(map(str, arguments)), standalone_mode=False)


def test_dry_run_prints_the_plan_and_makes_nothing(tmp_path):
    model = tmp_path / "a.tflite"
    model.write_bytes(b"\x1c\0\0\0TFL3")
    store = tmp_path / "harness.db"
    ended = run(model, "--boards", BOARD, "--arena", "4k", "--dry-run", "--store", store, "--format", "csv")
    assert ended.exception is None
    assert ended.stdout.splitlines()[1] == f"1,{BOARD},crate,a.tflite,4096,False,"
    assert f"unit {BOARD}-1 ({BOARD})" in ended.stderr
    assert not store.exists()


def test_a_pattern_that_the_shell_left_alone_begins_no_sweep(tmp_path):
    store = tmp_path / "harness.db"
    ended = run(tmp_path / "modles" / "*.tflite", "--units", f"{BOARD}=1", "--store", store)
    assert isinstance(ended.exception, UsageError)
    assert not store.exists()


def test_resume_needs_a_store(tmp_path):
    assert isinstance(run("--resume", "--store", tmp_path / "none.db").exception, ResultError)


def test_resume_needs_a_number(tmp_path):
    assert isinstance(run("--resume", "x", "--store", tmp_path / "none.db").exception, UsageError)


def failed(error):
    row = without_measurement(RowSubject("kws.tflite", "ab" * 32, BOARD, "2020-07"), None, error)
    return Outcome(row, Circumstances())


def test_lines_say_what_ended_and_why(capsys):
    progress = SweepProgress(["left"], 2)
    progress.began("left", JOB)
    progress.ended("left", JOB, failed(ProbeError("gone\x1b[2J")), again=True)
    progress.ended("left", JOB, failed(ProbeError("gone")), again=False)
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.splitlines() == [
        "[0/2] left: kws.tflite in 4,096 bytes: error: gone\\x1b[2J; to be tried again",
        "[1/2] left: kws.tflite in 4,096 bytes: error: gone",
    ]


def test_the_table_shows_units_and_what_is_left():
    progress = SweepProgress(["left", "[red]right"], 3)
    progress.began("left", JOB)
    stream = io.StringIO()
    Console(file=stream, width=120).print(progress.picture())
    assert "0 of 3 done, 0 failed attempts, 3 left, time left unknown" in stream.getvalue()
    assert "kws.tflite" in stream.getvalue()
    assert "[red]right" in stream.getvalue()
    assert "idle" in stream.getvalue()
