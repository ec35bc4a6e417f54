from __future__ import annotations

import pytest

from harness.domain.estimate import Profile
from harness.errors import ModelError
from harness.estimate import ModelFile, device_refusals, estimate, load_graph
from harness.estimate.layout.arena import Allocate, align_up
from tests.support.layouts import ARM, CMSIS, convolution, layout, requested, scratch
from tests.support.models import ModelBuilder, chain


def test_objects_and_arrays_come_in_tflms_order() -> None:
    sections = [event.section for event in layout(chain("SOFTMAX")).trace if isinstance(event, Allocate)]
    assert list(dict.fromkeys(sections)) == [
        "allocator",
        "memory_planner",
        "micro_allocator",
        "builtin_data_allocator",
        "subgraph_allocations",
        "eval_tensors",
        "node_and_registration",
        "builtin_data",
        "persistent_buffers",
        "persistent_tensors",
        "persistent_quantization",
    ]


def test_of_equal_buffers_the_last_lies_lowest() -> None:
    assert layout(chain("ABS", "ABS")).plan.offsets == (0, 64, 0)
    assert layout(chain("ABS")).plan.offsets == (64, 0)


def test_dead_tensors_are_planned_over_everything_but_each_other() -> None:
    model = chain("ABS")
    model.tensor("dead", [64])
    model.tensor("gone", [64])
    assert layout(model).plan.arena_bytes == 512


def test_an_unused_output_lives_for_its_operator() -> None:
    model = chain("ABS", "ABS")
    model.operator("ABS", [0], [model.tensor("unused", [1, 16])])
    assert [(b.first, b.last) for b in layout(model).buffers] == [(0, 3), (1, 2), (2, 3), (3, 3)]


def test_empty_constants_are_not_planned() -> None:
    model = chain("ABS")
    model.tensor("shape", [0], "int32")
    assert len(layout(model).buffers) == 2


def test_reshape_keeps_the_shape_that_it_works_out() -> None:
    fixed, open_ = chain("RESHAPE"), chain("RESHAPE")
    open_.tensors[1].shape = [4, -1]
    assert requested(open_, "persistent_buffers") == [12, *requested(fixed, "persistent_buffers")]
    assert layout(open_).plan == layout(fixed).plan


def test_a_4_bit_filter_is_unpacked_into_scratch() -> None:
    assert scratch(convolution("int4")) == [80]  # 2 * 3 * 3 * 4 elements, up to 16
    assert scratch(convolution("int8")) == []


def test_convolution_keeps_two_numbers_per_channel_for_every_type() -> None:
    for element in ("int8", "int16", "float32"):
        model = convolution("float32" if element == "float32" else "int8", element)
        assert requested(model, "persistent_buffers") == [56, 8, 8, 4, 4]


def test_per_channel_fully_connected_keeps_two_numbers_per_channel() -> None:
    model = ModelBuilder()
    x, weights = model.input("x", [1, 8], "int16", scales=1), model.constant("w", [5, 8], "int8", scales=5)
    y = model.tensor("y", [1, 5], "int16", scales=1)
    model.operator("FULLY_CONNECTED", [x, weights, -1], [y], ("FullyConnectedOptions", {}))
    model.output(y)
    assert requested(model, "persistent_buffers") == [48, 20, 20, 4, 4]


def test_mean_asks_for_three_scratch_buffers() -> None:
    model = ModelBuilder()
    x, axes = model.input("x", [1, 4, 4, 8], "int8", scales=1), model.constant("axes", [2], "int32")
    y = model.tensor("y", [1, 8], "int8", scales=1)
    model.operator("MEAN", [x, axes], [y], ("ReducerOptions", {}))
    model.output(y)
    assert scratch(model) == [32, 16, 16]
    assert requested(model, "scratch_buffer_handles") == [3 * 4]


def test_variables_get_memory_of_their_own() -> None:
    model = chain("ABS")
    model.tensor("state", [10], variable=True)
    assert requested(model, "variables") == [40]
    assert len(layout(model).buffers) == 2


def test_an_offline_plan_is_followed_even_for_variables() -> None:
    model = chain("ABS")
    model.tensor("state", [10], variable=True)
    model.offline_plan(-1, 4096, 0)
    found = layout(model)
    assert found.plan.offsets == (0, 4096, 0)
    assert requested(model, "variables") == []


def streaming(names: tuple[str, ...]) -> ModelBuilder:
    """A model that assigns resource variables, one per name, and reads them back."""
    model = ModelBuilder()
    last = model.input("x", [1, 16])
    for number, name in enumerate(names):
        handle, read = model.tensor(f"h{number}", [], "resource"), model.tensor(f"r{number}", [1, 16])
        model.operator("VAR_HANDLE", [], [handle], ("VarHandleOptions", {"Container": "", "SharedName": name}))
        model.operator("ASSIGN_VARIABLE", [handle, last], [])
        model.operator("READ_VARIABLE", [handle], [read])
        last = read
    model.output(last)
    return model


def test_resource_variables_are_counted_by_name_and_allocated_once() -> None:
    model = streaming(("a", "b", "a"))
    assert requested(model, "resource_variables") == [12, 2 * 20]
    assert requested(model, "persistent_buffers") == [4, 4, 4, 64, 64, 4, 4]
    assert requested(streaming(("a",)), "resource_variables") == [12, 20]


def test_handles_are_never_planned() -> None:
    assert [buffer.size_bytes for buffer in layout(streaming(("a",))).buffers] == [64, 64]


def branching(name: str = "IF") -> ModelBuilder:
    model = ModelBuilder()
    condition, x, y = model.input("c", [1], "bool"), model.input("x", [16]), model.tensor("y", [16])
    options = ("IfOptions", {"ThenSubgraphIndex": 1, "ElseSubgraphIndex": 2})
    model.operator(name, [condition, x], [y], options)
    model.output(y)
    for branch in ("then", "else"):
        inner = model.subgraph(branch)
        a, b = inner.input("a", [16], "int8", scales=1), inner.tensor("b", [16], "int8", scales=1)
        axes = inner.constant("axes", [1], "int32")
        inner.operator("SUM", [a, axes], [b], ("ReducerOptions", {}))
        inner.output(b)
    return model


def test_branches_share_their_memory_but_not_with_the_caller() -> None:
    found = layout(branching())
    spans = {owner.label: (b.first, b.last) for owner, b in zip(found.owners, found.buffers, strict=True)}
    assert spans["subgraph 0, tensor 1 'x'"] == (0, 5)
    assert spans["subgraph 1, tensor 0 'a'"] == (2, 3)
    assert spans["subgraph 2, tensor 0 'a'"] == (4, 5)
    assert spans["scratch of subgraph 2, operator 0 SUM"] == (5, 5)


def test_calls_that_the_planner_does_not_see_may_not_run() -> None:
    model = branching()
    assert device_refusals(load_graph(ModelFile.of("m", model.build())), ARM) == ()
    model.old_codes_only = True
    for inner in model.others:
        inner.operators[0].name = "ABS"
    assert "code only in the older field" in device_refusals(load_graph(ModelFile.of("m", model.build())), ARM)[0]


def test_arrays_come_subgraph_by_subgraph() -> None:
    assert requested(branching(), "eval_tensors") == [3 * 12, 3 * 12, 3 * 12]
    assert requested(branching(), "subgraph_allocations") == [3 * 8]


def test_scratch_of_a_subgraph_that_is_never_called_is_refused() -> None:
    with pytest.raises(ModelError, match="no operator calls wants scratch memory"):
        layout(branching("ADD"))


def test_several_inputs_and_outputs_get_tensors_of_their_own() -> None:
    assert requested(branching(), "persistent_tensors") == [40, 40, 40]
    assert requested(branching(), "persistent_buffers")[-2:] == [8, 4]


def test_operators_without_a_rule_are_counted_as_nothing_and_named() -> None:
    found = estimate(ModelFile.of("m", chain("RELU", "CIRCULAR_BUFFER").build()), ARM)
    assert [warning.split(" is ")[0] for warning in found.warnings] == ["subgraph 0, operator 1 'CIRCULAR_BUFFER'"]


def test_temporary_tensors_can_decide_the_minimum() -> None:
    """256 scales make one temporary tensor of 40 + 12 + 4 + 4 * 256 bytes, beside an arena of little else."""
    model = ModelBuilder()
    x = model.input("x", [1, 1, 1, 1], "int8", scales=1)
    weights = model.constant("w", [256, 1, 1, 1], "int8", scales=256)
    y = model.tensor("y", [1, 1, 1, 256], "int8", scales=1)
    model.operator("CONV_2D", [x, weights, -1], [y], ("Conv2DOptions", {"StrideW": 1, "StrideH": 1}))
    model.output(y)
    found = estimate(ModelFile.of("m", model.build()), ARM)
    assert found.min_working_arena_bytes is not None
    assert found.min_working_arena_bytes > found.arena_used_bytes + 700


def test_cmsis_nn_copies_the_window_for_convolutions() -> None:
    assert scratch(convolution(), CMSIS) == [4 * 36]
    assert scratch(convolution(side=1), CMSIS) == []
    assert scratch(convolution(element="int16"), CMSIS) == [4 * 36]
    assert scratch(convolution("float32", "float32"), CMSIS) == []


def test_cmsis_nn_keeps_channel_numbers_for_integers_only() -> None:
    assert requested(convolution(), "persistent_buffers", CMSIS) == [60, 8, 8, 4, 4]
    assert requested(convolution("float32", "float32"), "persistent_buffers", CMSIS) == [60, 4, 4]


@pytest.mark.parametrize(("side", "wanted"), [(3, []), (5, [400])])
def test_cmsis_nn_depthwise_needs_no_copy_for_three_by_three(side: int, wanted: list[int]) -> None:
    model = ModelBuilder()
    x = model.input("x", [1, 8, 8, 8], "int8", scales=1)
    weights = model.constant("w", [1, side, side, 8], "int8", scales=8, quantized_dimension=3)
    y = model.tensor("y", [1, 8, 8, 8], "int8", scales=1)
    options = {"StrideW": 1, "StrideH": 1, "DepthMultiplier": 1}
    model.operator("DEPTHWISE_CONV_2D", [x, weights, -1], [y], ("DepthwiseConv2DOptions", options))
    model.output(y)
    assert scratch(model, CMSIS) == wanted


def transpose_convolution(strides: tuple[int, int] = (2, 2)) -> ModelBuilder:
    """Of 4 x 4 x 8 to 8 x 8 x 4, with a filter of 3 x 3."""
    model = ModelBuilder()
    shape, weights = model.constant("s", [4], "int32"), model.constant("w", [4, 3, 3, 8], "int8", scales=4)
    x, y = model.input("x", [1, 4, 4, 8], "int8", scales=1), model.tensor("y", [1, 8, 8, 4], "int8", scales=1)
    options = ("TransposeConvOptions", {"StrideH": strides[0], "StrideW": strides[1]})
    model.operator("TRANSPOSE_CONV", [shape, weights, x], [y], options)
    model.output(y)
    return model


def test_cmsis_nn_transpose_convolution_always_asks_twice() -> None:
    assert scratch(transpose_convolution(), CMSIS) == [align_up(4 * (3 * 2 + 3) * 4 * 3, 16), 0]
    assert scratch(transpose_convolution()) == [4 * 8 * 8 * 4]


def test_cmsis_nn_transpose_convolution_compares_the_filters_width_with_the_stride_along_the_height() -> None:
    assert scratch(transpose_convolution((5, 2)), CMSIS) == [align_up(4 * (3 * 2 + 5) * 4 * 5, 16), 0]
    assert scratch(transpose_convolution((2, 5)), CMSIS) == [align_up(4 * (3 * 5 + 3) * 4 * 3, 16), 0]


@pytest.mark.parametrize("generation", ["2023-09", "2024-09"])
def test_cmsis_nn_transpose_convolution_kept_all_products_until_2024_11(generation: str) -> None:
    products, sums = 4 * (3 * 3) * (4 * 4) * 4, 4 * 8 * 8 * 4
    assert scratch(transpose_convolution(), Profile(generation, "arm32", "cmsis-nn")) == [products, sums]
