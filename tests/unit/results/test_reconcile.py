from dataclasses import replace

import pytest

from harness.domain.estimate import Section
from harness.domain.reconciliation import RowSubject, recorded_sections
from harness.errors import BenchError, DeviceFaultError, ModelError, ResultError
from harness.results.reconcile import join, reconcile, table, without_measurement
from tests.support.figures import ESTIMATE, MEASUREMENT


@pytest.mark.parametrize(
    ("estimated", "verdict", "exit_code"),
    [(1000, "ok", 0), (1200, "ok", 0), (1201, "over", 1), (999, "under", 1), (100, "under", 1)],
)
def test_too_high_is_tolerated_up_to_the_threshold_and_too_low_never(estimated, verdict, exit_code):
    row = reconcile(replace(ESTIMATE, arena_used_bytes=estimated), MEASUREMENT)
    assert (row.verdict, row.exit_code, row.error_bytes) == (verdict, exit_code, estimated - 1000)


def test_a_minimum_that_is_estimated_too_low_is_under_as_well():
    assert reconcile(ESTIMATE, replace(MEASUREMENT, min_working_arena_bytes=1204)).verdict == "under"
    assert reconcile(ESTIMATE, replace(MEASUREMENT, min_working_arena_bytes=1196)).verdict == "ok"


def test_an_overrun_fails_however_exact_the_estimate_is():
    row = reconcile(ESTIMATE, replace(MEASUREMENT, overruns=("3 bytes written into the guard",)))
    assert row.verdict == "fail"
    assert "3 bytes written into the guard" in row.causes


def causes(**changes):
    return reconcile(ESTIMATE, replace(MEASUREMENT, **changes)).causes


def test_equal_figures_need_no_cause():
    assert causes() == ()


def test_causes_are_put_into_words():
    assert causes(touched_by_allocation_bytes=960) == ("planner scratch touched 31 % of the free middle before Invoke",)
    assert causes(untouched_tail_bytes=42) == ("42 bytes of the tail never written",)
    assert "head is +16 bytes off" in causes(head_bytes=216)[0]
    assert causes(sections={"op_data": 804, "unheard_of": 5}) == ("op_data takes -8 bytes against the estimate",)
    assert causes(sections={"op_data": 812}) == ()
    assert causes(recording_failure="the arena is too small")[0].endswith("not be recorded: the arena is too small")
    assert causes(resets=2) == ("starts of the device that nobody asked for: 2",)
    assert "200 bytes more for a while" in causes(min_working_arena_bytes=1200)[0]
    assert "4 bytes of what is used are padding" in causes(min_working_arena_bytes=996)[0]
    assert "4 bytes next to the free middle" in causes(painted_used_bytes=996)[0]


def test_a_section_is_estimated_with_its_correction():
    correction = Section("correction_of_op_data", "tail", -8)
    corrected = replace(ESTIMATE, sections=(*ESTIMATE.sections, correction))
    (found,) = recorded_sections(corrected, replace(MEASUREMENT, sections={"op_data": 804}))
    assert (found.estimate_bytes, found.error_bytes) == (804, 0)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"sha256": "cd"}, "model hash"),
        ({"board": "c"}, "board"),
        ({"tflm": "2026-08"}, "TFLM generation"),
        ({"kernels": "cmsis-nn"}, "kernel set"),
    ],
)
def test_what_does_not_belong_together_is_an_error(changes, told):
    with pytest.raises(ResultError, match=told):
        reconcile(ESTIMATE, replace(MEASUREMENT, **changes))


def test_join_finds_the_estimate_of_each_measurement():
    other = replace(ESTIMATE, model="n.tflite", sha256="cd")
    rows = join([other, ESTIMATE], [MEASUREMENT, replace(MEASUREMENT, model="n.tflite", sha256="cd")], 20)
    assert [row.model for row in rows] == ["m.tflite", "n.tflite"]


@pytest.mark.parametrize(
    ("estimates", "measurements", "told"),
    [
        ([], [MEASUREMENT], "no estimate"),
        ([ESTIMATE], [], "no measurement"),
        ([ESTIMATE, ESTIMATE], [MEASUREMENT], "two estimates"),
        ([ESTIMATE], [replace(MEASUREMENT, sha256="cd")], "another model hash"),
        ([ESTIMATE], [MEASUREMENT, replace(MEASUREMENT, build_id="id2")], "different firmware builds"),
    ],
)
def test_join_refuses_what_has_no_partner(estimates, measurements, told):
    with pytest.raises(ResultError, match=told):
        join(estimates, measurements, 20)


@pytest.mark.parametrize(
    ("error", "verdict", "exit_code"),
    [
        (ModelError("no model", where="x"), "not_run", 2),
        (BenchError("probe gone"), "error", 3),
        (DeviceFaultError("hard fault"), "fail", 1),
    ],
)
def test_a_model_that_was_not_measured_has_a_row_with_its_reason(error, verdict, exit_code):
    row = without_measurement(RowSubject("m", "", "b", ""), None, error)
    assert (row.verdict, row.exit_code) == (verdict, exit_code)
    assert error.what in row.causes[0]


def test_the_table_has_missing_values_where_nothing_is_known():
    frame = table(
        [reconcile(ESTIMATE, MEASUREMENT), without_measurement(RowSubject("x", "", "b", ""), None, ModelError("bad"))]
    )
    assert frame["used_bytes"].isna().tolist() == [False, True]
    assert str(frame["used_bytes"].dtype) == "Int64"
    assert frame.loc[0, "used_bytes"] == 1000
