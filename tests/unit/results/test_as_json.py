import json
from dataclasses import replace
from typing import Any

import pytest

from harness.domain.measurement import TensorInfo
from harness.domain.reconciliation import RowSubject
from harness.errors import ModelError, ResultError
from harness.files.fields import Fields
from harness.results.as_json import (
    estimate_to_json,
    measurement_from_json,
    measurement_to_json,
    read_results,
    reconciliation_to_json,
)
from harness.results.reconcile import reconcile, without_measurement
from tests.support.figures import ESTIMATE, MEASUREMENT

FULL = replace(
    MEASUREMENT,
    outputs=(TensorInfo("int8", (1, 2), 2),),
    output_data=(b"\x01\xff",),
    log=("a log line",),
    min_working_arena_bytes=1100,
    min_arena_failure="too small",
    sections={"op_data": 3},
    recording_failure="too small",
    struct_sizes={"TfLiteTensor": 64},
    resets=2,
    kernels="cmsis-nn",
)

OURS = replace(ESTIMATE, profile=replace(ESTIMATE.profile, kernels="cmsis-nn"))


@pytest.fixture
def written(tmp_path):
    def write(items):
        path = tmp_path / "results.json"
        path.write_text(items if isinstance(items, str) else json.dumps(items))
        return path

    return write


def test_a_run_comes_back_as_it_was_written(written):
    path = written([reconciliation_to_json(reconcile(OURS, FULL))])
    assert read_results(path) == ([OURS], [FULL])


def test_estimates_alone_come_back(written):
    assert read_results(written([estimate_to_json(ESTIMATE)])) == ([ESTIMATE], [])


def test_a_model_that_was_not_measured_is_no_result(written):
    row = without_measurement(RowSubject("m", "", "b", ""), ESTIMATE, ModelError("no model"))
    assert read_results(written([reconciliation_to_json(row)])) == ([], [])


def test_the_promised_keys_are_there():
    row: dict[str, Any] = reconciliation_to_json(reconcile(OURS, FULL))
    assert {"verdict", "estimate", "measurement", "error_bytes", "error_percent", "causes"} <= row.keys()
    assert {
        "arena_size_bytes", "arena_used_bytes", "painted_used_bytes", "head_bytes", "tail_bytes", "sections",
        "min_working_arena_bytes", "stack_used_bytes", "output_sha256", "alloc_ticks", "invoke_ticks", "emulated",
        "build_id", "log",
    } <= row["measurement"].keys()  # fmt: skip
    assert {
        "model", "sha256", "tflm", "board", "abi", "method", "arena_used_bytes", "head_bytes", "tail_bytes",
        "min_working_arena_bytes", "recommended_arena_bytes", "sections", "corrections", "warnings",
    } <= row["estimate"].keys()  # fmt: skip


@pytest.mark.parametrize("text", ["", "{}", "[1]", "[" * 100_000, '{"a":'])
def test_what_is_no_list_of_results_is_refused(written, text):
    with pytest.raises(ResultError) as caught:
        read_results(written(text))
    assert "results.json" in str(caught.value)


def test_a_wrong_value_is_named_with_its_place(written):
    item = estimate_to_json(ESTIMATE) | {"head_bytes": "many"}
    with pytest.raises(ResultError) as caught:
        read_results(written([item]))
    assert "results.json[0]: head_bytes" in str(caught.value)


def test_a_measurement_that_used_nothing_is_refused(written):
    item: dict[str, Any] = reconciliation_to_json(reconcile(ESTIMATE, MEASUREMENT))
    item["measurement"]["arena_used_bytes"] = 0
    with pytest.raises(ResultError, match="wrong value") as caught:
        read_results(written([item]))
    assert "arena_used_bytes" in str(caught.value)


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(ResultError, match="cannot be read"):
        read_results(tmp_path / "none.json")


@pytest.mark.parametrize("value", [10**30, -(10**30), 10**5000], ids=["large", "small", "long"])
@pytest.mark.parametrize("key", ["tail_bytes", "min_working_arena_bytes"])
def test_a_number_that_no_machine_holds_is_refused(key, value):
    with pytest.raises(ResultError, match="wrong value") as caught:
        measurement_from_json(Fields("here", measurement_to_json(MEASUREMENT) | {key: value}, ResultError))
    assert f"here: {key}" in str(caught.value)


def test_bytes_are_never_negative():
    with pytest.raises(ResultError, match="wrong value"):
        measurement_from_json(Fields("here", measurement_to_json(MEASUREMENT) | {"tail_bytes": -1}, ResultError))
