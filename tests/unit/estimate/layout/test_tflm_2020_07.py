from __future__ import annotations

import os
from pathlib import Path

import pytest

from harness.domain.estimate import Estimate, Profile
from harness.estimate import ModelFile, device_refusals, estimate, load_graph, read_model
from harness.estimate.layout.arena import Allocate
from harness.estimate.layout.generation import generation_of
from tests.support.models import ModelBuilder, OperatorSpec, chain

ARM = Profile("2020-07", "arm32")


def of(model: ModelBuilder, profile: Profile = ARM) -> Estimate:
    return estimate(ModelFile.of("m", model.build()), profile)


def sections(model: ModelBuilder, profile: Profile = ARM) -> dict[str, int]:
    return {section.name: section.size_bytes for section in of(model, profile).sections}


def refusals(model: ModelBuilder) -> tuple[str, ...]:
    return device_refusals(load_graph(ModelFile.of("m", model.build())), ARM)


def convolutions(count: int) -> ModelBuilder:
    model = ModelBuilder()
    last = model.input("x", [1, 4, 4, 2], "int8", scales=1)
    for number in range(count):
        weights = model.constant(f"w{number}", [2, 1, 1, 2], "int8", scales=2)
        bias = model.constant(f"b{number}", [2], "int32", scales=2)
        target = model.tensor(f"y{number}", [1, 4, 4, 2], "int8", scales=1)
        model.operator("CONV_2D", [last, weights, bias], [target], ("Conv2DOptions", {"StrideW": 1, "StrideH": 1}))
        last = target
    model.output(last)
    return model


def add_svdf(model: ModelBuilder, source: int) -> int:
    """An 8-bit SVDF: 4 filters of rank 2 over a batch of 1."""
    feature = model.constant("f", [4, 8], "int8", scales=1)
    time = model.constant("t", [4, 6], "int16", scales=1)
    bias = model.constant("b", [2], "int32", scales=1)
    state = model.tensor("s", [1, 24], "int16", scales=1, variable=True)
    target = model.tensor("y", [1, 2], "int8", scales=1)
    model.operator("SVDF", [source, feature, time, bias, state], [target], ("SVDFOptions", {"Rank": 2}))
    return target


def svdf() -> ModelBuilder:
    model = ModelBuilder()
    model.output(add_svdf(model, model.input("x", [1, 8], "int8", scales=1)))
    return model


def crate_model(name: str) -> Path | None:
    """A model of the tfmicro crate, where cargo has unpacked it."""
    cargo = Path(os.environ.get("CARGO_HOME", Path.home() / ".cargo"))
    return next(cargo.glob(f"registry/src/*/tfmicro-0.1.0/examples/models/{name}.tflite"), None)


@pytest.mark.parametrize(("name", "head", "tail"), [("hello_world", 48, 1424), ("micro_speech", 5968, 1056)])
def test_what_a_cortex_m4_said(name: str, head: int, tail: int) -> None:
    path = crate_model(name)
    if path is None:
        pytest.skip("cargo has not unpacked the crate tfmicro on this machine")
    found = estimate(read_model(path), ARM)
    assert (found.head_bytes, found.tail_bytes) == (head, tail)


def test_every_tensor_and_its_quantization_stay_in_the_tail() -> None:
    # 4 tensors of 64 bytes; 12 for each quantization, 8 for one zero point, 8 for one scale, 4 more for each channel.
    found = sections(convolutions(1))
    assert found["allocator"] == 20
    assert found["tensors"] == 4 * 64
    assert found["quantization"] == 4 * 12 + 2 * (8 + 8) + 2 * (12 + 12)
    assert found["node_and_registration"] == 40
    assert found["builtin_data"] == 24


def test_convolutions_keep_two_numbers_per_channel() -> None:
    generation = generation_of(ARM)
    graph = load_graph(ModelFile.of("m", convolutions(2).build()))
    trace = generation.lay_out(graph, generation.target(ARM)).trace
    kept = [
        event.size_bytes for event in trace if isinstance(event, Allocate) and event.section == "persistent_buffers"
    ]
    assert kept == [40, 40, 8, 8, 8, 8]


def test_svdf_asks_for_scratch_and_its_state_is_a_variable() -> None:
    found = sections(svdf())
    assert found["scratch_buffer_handles"] == 2 * 12
    assert found["variables"] >= 48
    assert found["planned_tensors_and_scratch"] == 16 + 16 + 16 + 16


def test_wide_pointers_take_more() -> None:
    wide = sections(convolutions(1), Profile("2020-07", "x86-64"))
    assert (wide["allocator"], wide["tensors"], wide["node_and_registration"]) == (40, 4 * 112, 80)


def test_the_planner_needs_room_beyond_the_used_bytes() -> None:
    found = of(chain(*["ABS"] * 12, size=1))
    assert found.min_working_arena_bytes is not None
    assert found.min_working_arena_bytes > found.arena_used_bytes
    # 13 tensors: 20 bytes of allocation info and 36 of planner room each, above a tail of whole words.
    assert found.tail_bytes is not None
    assert 0 <= found.min_working_arena_bytes - (found.tail_bytes + 13 * (20 + 36)) < 16


def test_of_equal_buffers_the_first_lies_lowest() -> None:
    generation = generation_of(ARM)
    graph = load_graph(ModelFile.of("m", chain("ABS", "ABS").build()))
    assert generation.lay_out(graph, generation.target(ARM)).plan.offsets == (0, 64, 0)


def test_scratch_comes_last_request_first() -> None:
    generation = generation_of(ARM)
    graph = load_graph(ModelFile.of("m", svdf().build()))
    layout = generation.lay_out(graph, generation.target(ARM))
    assert [buffer.size_bytes for buffer in layout.buffers] == [16, 16, 16, 16]
    assert [(buffer.first, buffer.last) for buffer in layout.buffers] == [(0, 0)] * 4
    assert len(layout.buffers) == 4


def test_a_tensor_that_is_only_read_gets_no_memory() -> None:
    model = chain("ABS")
    read = model.tensor("read", [1, 16])
    model.operator("ADD", [1, read], [model.tensor("y", [1, 16])])
    model.outputs = [3]
    assert sections(model)["planned_tensors_and_scratch"] == 2 * 64
    assert "is read but never written" in refusals(model)[0]


def refused(model: ModelBuilder, words: str) -> None:
    assert any(words in reason for reason in refusals(model)), refusals(model)


def test_an_absent_optional_input_may_be_estimated_but_not_run() -> None:
    model = convolutions(1)
    model.operators[0].inputs = [0, 1, -1]
    assert of(model).arena_used_bytes > 0
    refused(model, "absent optional tensor (-1)")


def test_several_subgraphs_are_refused() -> None:
    model = chain("ABS")
    model.subgraph("other")
    refused(model, "one subgraph only, not of 2")


@pytest.mark.parametrize("element_type", ["int4", "uint32", "float16", "resource"])
def test_types_without_size_are_refused(element_type: str) -> None:
    refused(chain("ABS", type=element_type), f"of type {element_type}")


def test_unused_and_dead_tensors_are_refused_as_its_planner_does() -> None:
    model = chain("ABS")
    model.tensor("dead", [4])
    refused(model, "'dead' is never read or never written")


def test_an_operator_code_in_the_new_field_only_is_refused() -> None:
    model = chain("ABS")
    model.new_codes_only = True
    refused(model, "does not read")


def test_missing_lists_are_refused() -> None:
    model = chain("ABS")
    model.operators.append(OperatorSpec("ABS", None, []))
    refused(model, "lacks its list of inputs or outputs")


def test_custom_options_on_a_builtin_operator_are_refused() -> None:
    model = chain("ABS")
    model.operators[0].custom_options = b"x"
    refused(model, "builtin operator with custom options")


def test_an_open_dimension_of_reshape_is_refused() -> None:
    model = chain("RESHAPE")
    model.tensors[1].shape = [-1, 8]
    refused(model, "leaves a dimension (-1) open")


def test_a_model_without_inputs_or_outputs_is_refused() -> None:
    model = chain("ABS")
    model.inputs, model.outputs = [], []
    refused(model, "no inputs")
    refused(model, "no outputs")


def test_scratch_requests_must_follow_each_other() -> None:
    model = ModelBuilder()
    y = add_svdf(model, model.input("x", [1, 8], "int8", scales=1))
    weights = model.constant("w", [2, 1, 1, 2], "int8", scales=2)
    model.tensors[y].shape = [1, 1, 1, 2]
    z = model.tensor("z", [1, 1, 1, 2], "int8", scales=1)
    model.operator("CONV_2D", [y, weights, model.constant("b", [2], "int32", scales=2)], [z])
    assert not any("scratch after" in reason for reason in refusals(model))
    add_svdf(model, z)
    refused(model, "asks for scratch after persistent memory was taken in between")


def test_the_circular_buffer_is_its_one_custom_operator() -> None:
    assert refusals(chain("CIRCULAR_BUFFER", type="int8")) == ()
    refused(chain("RELU_N1_TO_1"), "has no such operator")


def test_an_offline_plan_is_ignored_and_that_is_said() -> None:
    plain, planned = chain("ABS"), chain("ABS")
    planned.offline_plan(4096, 0)
    assert of(planned).arena_used_bytes == of(plain).arena_used_bytes
    assert of(planned).warnings == ("TFLM 2020-07 ignores the model's offline memory plan",)
