from dataclasses import replace

import pytest

from harness.domain.attempt import Attempt, Job, JobResult
from harness.errors import ResultError
from harness.results.budgets import Budget, Budgets
from harness.results.check import CheckLimits, baseline_to_text, check, figure_of, read_baseline, updated_baseline

BOARD = "stm32f407-virtual"


def result(model="kws.tflite", used=1000, minimum=None, estimate=1000, verdict="ok", **job):
    of_job = Job(1, model, f"/{model}", job.pop("sha256", "ab" * 32), BOARD, "crate", **job)
    failed = verdict == "error"
    attempt = Attempt(
        1, 1, 1, 1, "failed" if failed else "done", "2026-01-01T00:00:00.000Z", "2026-01-01T00:00:02.500Z", "host", "0",
        model, of_job.sha256, BOARD, "dut", verdict=verdict, exit_code=3 if failed else 0, causes=("why",),
        used_bytes=used, minimum_bytes=minimum, estimate_bytes=estimate,
        error_percent=None if used is None else 100 * (estimate - used) / used,
    )  # fmt: skip
    return JobResult(of_job, attempt, 1, int(failed))


def test_a_baseline_knows_a_manifest_by_its_folder_and_file_only():
    of_job = replace(result().job, tflm="/a/machine/vendor/tflm.toml")
    assert figure_of(replace(result(), job=of_job)).tflm == "vendor/tflm.toml"


def kinds(results, baseline, **limits):
    return {
        row.figure.model: [each.kind for each in row.findings]
        for row in check(results, baseline, CheckLimits(**limits))
    }


def test_what_is_as_it_was_is_no_finding():
    (row,) = check([result(minimum=1050)], [figure_of(result(minimum=1050))], CheckLimits())
    assert row.findings == ()
    assert row.seconds == 2.5


def test_new_gone_grew_and_shrank():
    before = [figure_of(result(model)) for model in ("grew", "shrank", "gone", "same")]
    now = [
        result("grew", used=1008, estimate=1008),
        result("shrank", used=900, estimate=900),
        result("new"),
        result("same"),
    ]
    assert kinds(now, before) == {"grew": ["grew"], "shrank": ["shrank"], "gone": ["gone"], "new": ["new"], "same": []}


def test_the_numbers_are_told_and_whether_the_model_file_changed():
    (row,) = check([result(used=1264, estimate=1264, sha256="cd" * 32)], [figure_of(result())], CheckLimits())
    (finding,) = row.findings
    assert finding.message == "the arena in use grew by 264 bytes: 1,000 → 1,264; the model file has changed"
    assert (finding.measured_bytes, finding.expected_bytes) == (1264, 1000)


def test_the_smallest_arena_counts_as_well():
    assert kinds([result(minimum=1100)], [figure_of(result(minimum=1050))]) == {"kws.tflite": ["grew"]}


def test_a_minimum_on_one_side_only_is_no_change():
    assert kinds([result(minimum=1100)], [figure_of(result())]) == {"kws.tflite": []}


@pytest.mark.parametrize(("used", "found"), [(1016, []), (984, []), (1017, ["grew"]), (983, ["shrank"])])
def test_tolerance(used, found):
    now = [result(used=used, estimate=used)]
    assert kinds(now, [figure_of(result())], tolerance_bytes=16) == {"kws.tflite": found}


@pytest.mark.parametrize(("limit", "found"), [(1050, []), (1049, ["over_budget"])])
def test_budgets_are_for_the_smallest_arena_that_works(limit, found):
    budgets = Budgets((Budget("*", "kws*", limit),))
    assert kinds([result(minimum=1050)], None, budgets=budgets) == {"kws.tflite": found}


@pytest.mark.parametrize(
    ("estimate", "found"), [(1000, []), (1200, []), (1201, ["estimate_off"]), (999, ["estimate_off"])]
)
def test_estimates(estimate, found):
    assert kinds([result(estimate=estimate)], None) == {"kws.tflite": found}


def test_an_estimated_minimum_that_is_too_low():
    low = result(minimum=1100)
    low = replace(low, attempt=replace(low.attempt, estimate_minimum_bytes=1096))
    assert kinds([low], None) == {"kws.tflite": ["estimate_off"]}


def test_a_model_that_is_refused_as_before_is_no_finding_and_a_change_is():
    refused = result(used=None, verdict="fail")
    assert kinds([refused], [figure_of(refused)]) == {"kws.tflite": []}
    assert kinds([refused], [figure_of(result())]) == {"kws.tflite": ["verdict_changed"]}
    assert kinds([result()], [figure_of(refused)]) == {"kws.tflite": ["verdict_changed"]}


def test_bench_trouble_says_nothing_about_the_model():
    trouble = result(used=None, verdict="error")
    never = JobResult(result().job, None, 0, 0, ("no unit is left",))
    for each, cause in ((trouble, "why"), (never, "no unit is left")):
        (row,) = check([each], [figure_of(result())], CheckLimits())
        assert [(finding.kind, finding.message) for finding in row.findings] == [("not_measured", cause)]


def test_settings_of_a_model_are_figures_of_their_own():
    baseline = [figure_of(result(arena_size_bytes=4096)), figure_of(result(used=900))]
    rows = check([result(arena_size_bytes=4096), result(used=900, estimate=900)], baseline, CheckLimits())
    assert [(row.figure.arena_size_bytes, row.findings) for row in rows] == [(0, ()), (4096, ())]


def test_a_baseline_is_the_same_text_whatever_the_order(tmp_path):
    results = [result("b"), result("a", minimum=1100), result("c", used=None, verdict="fail")]
    text = baseline_to_text(updated_baseline(results, []))
    assert text == baseline_to_text(updated_baseline(results[::-1], []))
    path = tmp_path / "baseline.json"
    path.write_text(text)
    assert baseline_to_text(read_baseline(path)) == text
    assert [figure.model for figure in read_baseline(path)] == ["a", "b", "c"]


def test_bench_trouble_leaves_the_baseline_as_it_was():
    before = [figure_of(result("a")), figure_of(result("gone"))]
    now = [result("a", used=None, verdict="error"), result("b", used=None, verdict="error")]
    assert updated_baseline(now, before) == before[:1]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{", "no JSON"),
        ("[]", "no baseline"),
        ('{"figures": 3}', "wrong value"),
        ('{"figures": [{"board": "x"}]}', "missing key"),
    ],
)
def test_a_file_that_is_no_baseline(tmp_path, text, told):
    path = tmp_path / "baseline.json"
    path.write_text(text)
    with pytest.raises(ResultError, match=told):
        read_baseline(path)


def test_a_missing_baseline_says_how_to_make_one(tmp_path):
    with pytest.raises(ResultError) as raised:
        read_baseline(tmp_path / "none.json")
    assert "--update-baseline" in raised.value.hint
