import json
from dataclasses import replace
from hashlib import sha256
from typing import Any

import pytest
from click.testing import CliRunner

from harness.cli.report import command
from harness.domain.attempt import Circumstances, Job
from harness.errors import ResultError, UsageError
from harness.results.as_json import reconciliation_to_json
from harness.results.reconcile import reconcile
from harness.store import open_store
from tests.support.figures import ESTIMATE, MEASUREMENT
from tests.support.models import skipping

MODEL = skipping().build()
BOARD = "stm32f407-virtual"


def row(used_bytes=1000):
    same: dict[str, Any] = {"sha256": sha256(MODEL).hexdigest(), "board": BOARD}
    return reconcile(replace(ESTIMATE, **same), replace(MEASUREMENT, arena_used_bytes=used_bytes, **same))


@pytest.fixture
def run_file(tmp_path):
    def write(name, *rows):
        path = tmp_path / name
        path.write_text(json.dumps([reconciliation_to_json(each) for each in rows]))
        return path

    return write


def report(*arguments):
    result = CliRunner().invoke(command, [str(argument) for argument in arguments], standalone_mode=False)
    if result.exception:
        raise result.exception
    return result


def test_several_files_are_one_history_and_the_last_row_is_the_result(run_file):
    text = report(run_file("one.json", row()), run_file("two.json", row(1016)), "--format", "markdown").stdout
    assert "1 job: 1 under; **1 regression** in the history." in text
    assert "one.json, two.json" in text.replace("\\_", "_")


def test_timelines_come_from_a_folder_of_models_by_their_contents(run_file, tmp_path):
    (tmp_path / "models" / "deep").mkdir(parents=True)
    (tmp_path / "models" / "other.tflite").write_bytes(b"no model")
    (tmp_path / "models" / "deep" / "renamed.tflite").write_bytes(MODEL)
    page = tmp_path / "page.html"
    pytest.importorskip("jinja2")
    result = report(run_file("run.json", row()), "--models", tmp_path / "models", "-o", page)
    assert result.stdout == ""
    assert "written" in result.stderr
    assert 'data-title="renamed.tflite"' in page.read_text()
    assert "Memory over time" not in report(run_file("run.json", row())).stdout


def test_a_sweep_is_reported_from_the_store(tmp_path):
    store_path = tmp_path / "results.db"
    (tmp_path / "m.tflite").write_bytes(MODEL)
    found = row()
    with open_store(store_path, create=True) as store:
        for _ in range(2):
            job = Job(1, "m.tflite", str(tmp_path / "m.tflite"), found.sha256, BOARD, "crate")
            sweep = store.begin_sweep([job], {})
            store.end_attempt(store.begin_attempt(sweep, job, "left"), found, Circumstances(tflm="2020-07"))
    text = report("--store", store_path, "--format", "markdown").stdout
    assert "results.db, sweep 2 of" in text
    assert f"| left | {BOARD} | 2 | 0 | 0 |" in text
    assert "### Memory plans" in text
    assert "results.db, sweep 1 of" in report("--store", store_path, "--sweep", 1, "--format", "markdown").stdout
    with pytest.raises(ResultError, match="no sweep 7"):
        report("--store", store_path, "--sweep", 7)


def test_files_and_a_store_exclude_each_other(run_file, tmp_path):
    with pytest.raises(UsageError, match="go without FILEs"):
        report(run_file("run.json", row()), "--store", tmp_path / "results.db")


def test_without_a_store_there_is_nothing_to_report(tmp_path):
    with pytest.raises(ResultError, match="no results database"):
        report("--store", tmp_path / "results.db")


def test_a_board_of_another_lab_costs_only_its_timeline(run_file, tmp_path):
    (tmp_path / "m.tflite").write_bytes(MODEL)
    elsewhere = replace(row(), board="not-here")
    text = report(run_file("run.json", elsewhere), "--models", tmp_path, "--format", "markdown").stdout
    assert "not-here" in text
    assert "Memory plans" not in text
