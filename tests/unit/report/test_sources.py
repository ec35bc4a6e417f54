import json
from dataclasses import replace

import pytest

from harness.domain.attempt import Circumstances, Job
from harness.domain.reconciliation import RecordedSection, RowSubject
from harness.errors import FlashError, ModelError, ResultError
from harness.report.sources import file_outcomes, past_outcomes, sweep_outcomes
from harness.results.as_json import reconciliation_to_json
from harness.results.reconcile import reconcile, without_measurement
from harness.store import open_store
from tests.support.figures import ESTIMATE, MEASUREMENT

GOOD = reconcile(ESTIMATE, replace(MEASUREMENT, min_working_arena_bytes=1100, sections={"op_data": 804}))
SECTIONS = (RecordedSection("op_data", 812, 804),)
ROW = RowSubject("m.tflite", "ab", "b", "2020-07")
BROKEN = without_measurement(ROW, None, FlashError("the cable fell out"))
KEY = Circumstances(tflm="2020-07", kernels="reference", build_id="id1")


@pytest.fixture
def store(tmp_path):
    with open_store(tmp_path / "results.db", create=True) as opened:
        yield opened


def begun(store, *models):
    return store.begin_sweep(
        [Job(number, model, f"/{model}", "ab", "b", "crate") for number, model in enumerate(models, 1)], {}
    )


def test_a_job_that_passed_after_trouble_is_flaky(store):
    sweep = begun(store, "m.tflite", "n.tflite")
    jobs = [result.job for result in store.job_results(sweep)]
    for job, result in ((jobs[0], BROKEN), (jobs[0], GOOD), (jobs[1], GOOD)):
        store.end_attempt(store.begin_attempt(sweep, job, "left"), result, KEY)
    assert [outcome.flaky for outcome in sweep_outcomes(store, store.job_results(sweep))] == [True, False]
    assert [(outcome.verdict, outcome.flaky) for outcome in past_outcomes(store)] == [
        ("error", False),
        ("ok", True),
        ("ok", False),
    ]


def test_outcomes_have_the_figures_and_the_key(store):
    sweep = begun(store, "m.tflite")
    (result,) = store.job_results(sweep)
    store.end_attempt(store.begin_attempt(sweep, result.job, "left"), GOOD, KEY)
    (job,), (past,) = sweep_outcomes(store, store.job_results(sweep)), past_outcomes(store)
    assert (job.estimate_bytes, job.used_bytes, job.minimum_bytes, job.error_bytes) == (1000, 1000, 1100, 0)
    assert (job.dut, job.tflm, job.key["kernels"]) == ("left", "2020-07", "reference")
    assert (past.dut, past.used_bytes, past.key["firmware build"]) == ("left", 1000, "id1")
    assert job.sections == SECTIONS
    assert past.series == job.series
    assert past.when == job.when != ""


def test_a_job_that_nothing_was_left_for_says_why(store):
    sweep = begun(store, "m.tflite")
    store.give_up_job(sweep, 1, ["no unit is left"])
    (job,) = sweep_outcomes(store, store.job_results(sweep))
    assert (job.verdict, job.causes, job.used_bytes) == ("not_run", ("no unit is left",), None)


def test_a_report_names_a_manifest_without_the_folders_of_this_machine(store):
    sweep = store.begin_sweep([Job(1, "m.tflite", "/m.tflite", "ab", "b", "/a/machine/mine/tflm.toml")], {})
    store.give_up_job(sweep, 1, ["no unit is left"])
    (job,) = sweep_outcomes(store, store.job_results(sweep))
    assert job.tflm == "mine/tflm.toml"


def test_an_attempt_that_was_cut_off_is_no_outcome(store):
    sweep = begun(store, "m.tflite")
    (result,) = store.job_results(sweep)
    store.begin_attempt(sweep, result.job, "left")
    store.interrupt_running(sweep)
    assert past_outcomes(store) == []


def test_files_of_runs_are_read(tmp_path):
    path = tmp_path / "run.json"
    refused = without_measurement(RowSubject("n.tflite", "", "b", "2020-07"), ESTIMATE, ModelError("no model"))
    path.write_text(json.dumps([reconciliation_to_json(GOOD), reconciliation_to_json(refused)]))
    good, bad = file_outcomes(path)
    assert (good.used_bytes, good.dut, good.key["firmware build"]) == (1000, "u", "id1")
    assert (bad.verdict, bad.causes, bad.estimate_bytes, bad.used_bytes) == ("not_run", ("no model",), 1000, None)


@pytest.mark.parametrize(("key", "value"), [("verdict", "great"), ("causes", "none"), ("model", 3)])
def test_files_of_something_else_are_refused(tmp_path, key, value):
    path = tmp_path / "run.json"
    path.write_text(json.dumps([reconciliation_to_json(GOOD) | {key: value}]))
    with pytest.raises(ResultError, match="wrong value"):
        file_outcomes(path)
