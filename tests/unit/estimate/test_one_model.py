"""The whole estimate, against what a Cortex-M4 said and against the hostile cases."""

from __future__ import annotations

import csv
from typing import Any

import pytest

from harness.domain.estimate import Estimate, Profile
from harness.errors import ModelError, UsageError
from harness.estimate import ModelFile, device_refusals, estimate, load_graph, read_model
from tests.support.models import ModelBuilder, chain
from tests.support.places import SHARED

CASES = SHARED / "cases"
TRUTH = {"reference": "tflm_2026_08_cortex_m4.csv", "cmsis-nn": "tflm_2026_08_cortex_m4_cmsis_nn.csv"}
OLD, NEW = Profile("2020-07", "arm32"), Profile("2026-08", "arm32")

needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason="the shared models and measurements are not there")


def truth_rows() -> list[tuple[str, dict[str, str]]]:
    return [
        (kernels, row)
        for kernels, name in TRUTH.items()
        if (SHARED / "truth" / name).is_file()
        for row in csv.DictReader((SHARED / "truth" / name).read_text().splitlines())
    ]


def of(model: ModelBuilder, profile: Profile = NEW, **more: object) -> Estimate:
    return estimate(ModelFile.of("m.tflite", model.build()), profile, **more)  # type: ignore[arg-type] # checked by the callee


@needs_shared
@pytest.mark.parametrize(("kernels", "row"), truth_rows(), ids=lambda value: str(value)[:60])
def test_the_measured_truth(kernels: str, row: dict[str, str]) -> None:
    found = estimate(read_model(SHARED / "models" / row["model"]), Profile("2026-08", "arm32", kernels))
    assert found.sha256 == row["sha256"]
    assert found.arena_used_bytes == int(row["arena_used_bytes"])
    assert found.head_bytes == int(row["recording_head_bytes"])
    assert found.min_working_arena_bytes is not None
    assert 0 <= found.min_working_arena_bytes - int(row["min_working_arena_bytes"]) <= 16
    recorded = {f"recorded_{section.name}": section.size_bytes for section in found.recorded_sections}
    assert recorded == {name: int(row.get(name, 0)) for name in recorded}
    assert recorded.keys() - row.keys() == {"recorded_op_data"}


@needs_shared
@pytest.mark.parametrize(
    ("name", "used"),
    [
        ("fc_optional_bias", 776),
        ("offline_plan_4k_stride", 12952),
        ("variable_tensor_4KB", 4888),
        ("dyn_signature_only", 776),
        ("weird_tensor_name", 776),
    ],
)
def test_unusual_models(name: str, used: int) -> None:
    assert estimate(read_model(CASES / f"{name}.tflite"), NEW).arena_used_bytes == used


@needs_shared
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("dyn_shape_minus1", "'serving_default_dense_input:0': a dimension is open"),
        ("unsupported_custom", "operator 0 'MY_CUSTOM': TFLM 2026-01 has no such operator"),
        ("git_lfs_pointer", "this is a Git LFS pointer, fetch the file"),
        ("truncated_half", "a file of 1582 bytes"),
        ("empty", "an empty file"),
    ],
)
def test_hostile_models(name: str, words: str) -> None:
    with pytest.raises(ModelError, match=words):
        estimate(read_model(CASES / f"{name}.tflite"), NEW)


@pytest.mark.parametrize("profile", [OLD, NEW, Profile("2026-08", "x86-64"), Profile("2020-07", "x86-64")])
@pytest.mark.parametrize("arena_size_bytes", [4096, 4100, 4104, 4108, 4101])
def test_sections_add_up(profile: Profile, arena_size_bytes: int) -> None:
    found = of(chain("RELU", "SOFTMAX", "ABS"), profile, arena_size_bytes=arena_size_bytes)
    assert found.head_bytes is not None
    assert found.tail_bytes is not None
    assert sum(section.size_bytes for section in found.sections) == found.arena_used_bytes
    assert found.head_bytes + found.tail_bytes == found.arena_used_bytes
    heads = [section for section in found.sections if section.region == "head"]
    assert sum(section.size_bytes for section in heads) == found.head_bytes


def test_used_bytes_depend_on_the_arenas_end() -> None:
    used = {size: of(chain("RELU"), arena_size_bytes=size).arena_used_bytes for size in (4096, 4100, 4104, 4108, 4112)}
    assert used[4096] == used[4112]
    assert len(set(used.values())) > 1
    assert max(used.values()) - min(used.values()) <= 12


@pytest.mark.parametrize("percent", [0.0, 10.0, 15.5])
def test_the_recommendation_is_a_multiple_of_16_with_the_margin(percent: float) -> None:
    found = of(chain("RELU", "ABS"), margin_percent=percent)
    assert found.min_working_arena_bytes is not None
    assert found.recommended_arena_bytes % 16 == 0
    assert found.recommended_arena_bytes >= found.min_working_arena_bytes * (1 + percent / 100)


@pytest.mark.parametrize("more", [{"margin_percent": -1.0}, {"margin_percent": float("nan")}, {"arena_size_bytes": 0}])
def test_senseless_numbers_are_refused(more: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        of(chain("RELU"), **more)


def test_an_unknown_method_is_refused() -> None:
    with pytest.raises(UsageError, match="'guess'"):
        of(chain("RELU"), method="guess")


def test_the_formula_says_nothing_of_head_and_tail() -> None:
    found = of(chain("RELU"), method="formula")
    assert (found.head_bytes, found.tail_bytes, found.min_working_arena_bytes) == (None, None, None)
    assert sum(section.size_bytes for section in found.sections) == found.arena_used_bytes
    assert found.recommended_arena_bytes == found.arena_used_bytes


def test_the_formula_takes_open_dimensions_and_unknown_operators() -> None:
    model = chain("Mine")
    model.tensors[0].shape = [-1, 4]
    assert of(model, method="formula").arena_used_bytes > 4096


def test_an_offline_plan_that_overlaps_is_pointed_out() -> None:
    model = chain("RELU")
    model.offline_plan(0, 32)
    assert of(model).warnings == (
        "the offline memory plan lays subgraph 0, tensor 0 'x' over subgraph 0, tensor 1 't0'",
    )


def test_an_operator_that_tflm_lacks_names_all_of_them() -> None:
    with pytest.raises(ModelError, match="operator 0 LEAKY_RELU: TFLM 2020-07 has no such operator, and 1 more"):
        of(chain("LEAKY_RELU", "ELU"), OLD)


def refusals(model: ModelBuilder, profile: Profile) -> tuple[str, ...]:
    return device_refusals(load_graph(ModelFile.of("m", model.build())), profile)


@pytest.mark.parametrize("profile", [OLD, NEW])
def test_a_good_model_may_run(profile: Profile) -> None:
    assert refusals(chain("RELU", "SOFTMAX"), profile) == ()


@pytest.mark.parametrize("profile", [OLD, NEW])
def test_hazards_and_unknown_operators_may_not_run(profile: Profile) -> None:
    assert "reads" in refusals(chain("ADD"), profile)[0]
    assert "has no such operator" in refusals(chain("Mine"), profile)[0]


def test_what_can_not_be_used_at_all_is_an_error() -> None:
    model = chain("RELU")
    model.tensors[0].shape = [-1, 4]
    with pytest.raises(ModelError):
        refusals(model, NEW)
