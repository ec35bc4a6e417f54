from __future__ import annotations

import pytest

from harness.domain.estimate import Profile
from harness.domain.graph import Graph
from harness.errors import ModelError
from harness.estimate import ModelFile, estimate
from harness.estimate.reading.checks import MAX_CALL_DEPTH, check_order, check_shapes, inspect
from harness.estimate.reading.parse import parse
from tests.support.models import ModelBuilder, SubgraphBuilder, chain


def graph_of(model: ModelBuilder) -> Graph:
    return parse(model.build(), "m")


def shape_error(model: ModelBuilder) -> str:
    with pytest.raises(ModelError) as caught:
        check_shapes(graph_of(model))
    return str(caught.value)


def order_error(model: ModelBuilder) -> str:
    with pytest.raises(ModelError) as caught:
        check_order(graph_of(model))
    return str(caught.value)


def warnings(model: ModelBuilder) -> tuple[str, ...]:
    return inspect(graph_of(model)).warnings


def hazards(model: ModelBuilder) -> tuple[str, ...]:
    return inspect(graph_of(model)).hazards


def test_a_plain_model_is_neither_refused_nor_odd() -> None:
    graph = graph_of(chain("RELU", "ABS"))
    check_order(graph)
    check_shapes(graph)
    assert inspect(graph).warnings == inspect(graph).hazards == ()


def test_an_open_dimension_of_an_input_names_it_and_the_option() -> None:
    model = chain("RELU")
    model.tensors[0].shape = [-1, 96]
    message = shape_error(model)
    assert "tensor 0 'x': a dimension is open" in message
    assert "--input-shape 'x'=1,96" in message


def test_an_open_dimension_elsewhere_points_to_the_inputs() -> None:
    model = chain("RELU", "ABS")
    model.tensors[1].shape = [-1, 16]
    assert "shapes of the model's inputs" in shape_error(model)


def test_an_open_dimension_in_the_signature_alone_is_fine() -> None:
    model = chain("RELU")
    model.tensors[0].signature = [-1, 16]
    check_shapes(graph_of(model))


def test_the_empty_shape_of_a_scalar_is_fine() -> None:
    model = chain("RELU")
    model.tensor("shape", [0], "int32")
    check_shapes(graph_of(model))


@pytest.mark.parametrize("element_type", ["string", "variant"])
def test_a_type_without_size_is_refused(element_type: str) -> None:
    model = chain("RELU")
    model.tensors[0].type = element_type
    assert f"type {element_type}" in shape_error(model)


@pytest.mark.parametrize("shape", [[1 << 30], [1 << 16, 1 << 16], [1 << 20] * 4])
def test_a_tensor_of_two_gigabytes_is_refused(shape: list[int]) -> None:
    model = chain("RELU")
    model.tensors[0].shape = shape
    assert "more than 2 GiB" in shape_error(model)


def test_constants_must_fill_their_shape() -> None:
    model = chain("RELU")
    model.constant("w", [4], data=bytes(15))
    assert "has 15 bytes, but its shape needs 16" in shape_error(model)


def test_two_4_bit_elements_share_a_byte() -> None:
    model = chain("RELU")
    model.constant("w", [5], "int4", data=bytes(3))
    check_shapes(graph_of(model))
    model.constant("v", [5], "int4", data=bytes(2))
    assert "has 2 bytes, but its shape needs 3" in shape_error(model)


def test_a_model_without_operators_is_fine() -> None:
    model = ModelBuilder()
    model.output(model.input("x", [1]))
    check_order(graph_of(model))


def test_a_tensor_read_before_it_is_written_is_refused() -> None:
    model = chain("RELU", "ABS")
    model.operators.reverse()
    message = order_error(model)
    assert "operator 0 ABS: it reads" in message
    assert "written by operator 1" in message


def test_an_operator_that_reads_its_own_output_is_refused() -> None:
    model = chain("RELU")
    model.operators[0].inputs = [1]
    assert "before it is written" in order_error(model)


def test_a_variable_may_be_read_before_it_is_written() -> None:
    model = chain("RELU")
    state = model.tensor("state", [4], variable=True)
    model.operator("ABS", [state], [state])
    check_order(graph_of(model))


def test_a_tensor_written_twice_is_refused() -> None:
    model = chain("RELU")
    model.operator("ABS", [0], [1])
    assert "which was written by an operator before it" in order_error(model)


def test_a_constant_that_is_written_is_refused() -> None:
    model = chain("RELU")
    model.operator("ABS", [0], [model.constant("w", [1, 16])])
    assert "which was written by the file" in order_error(model)


def test_an_absent_output_is_not_taken_for_a_tensor() -> None:
    model = chain("RELU")
    model.operators[0].outputs = [1, -1, -1]
    check_order(graph_of(model))


def call(model: SubgraphBuilder, number: int) -> None:
    model.operator("CALL_ONCE", [], [], ("CallOnceOptions", {"InitSubgraphIndex": number}))


@pytest.mark.parametrize("number", [-1, 1, 99])
def test_a_call_to_an_unknown_subgraph_is_refused(number: int) -> None:
    model = chain("RELU")
    call(model, number)
    assert "calls a subgraph that does not exist" in order_error(model)


def test_calls_in_a_circle_are_refused() -> None:
    model = chain("RELU")
    call(model, 1)
    for number in (2, 1):
        inner = model.subgraph(f"inner{number}")
        inner.operator("CALL_ONCE", [], [], ("CallOnceOptions", {"InitSubgraphIndex": number}))
    assert "call each other in a circle" in order_error(model)


def calls_in_a_row(depth: int) -> ModelBuilder:
    model = chain("RELU")
    call(model, 1)
    for number in range(1, depth):
        call(model.subgraph(f"inner{number}"), number + 1)
    model.subgraph("innermost")
    return model


def test_calls_that_go_too_deep_are_refused() -> None:
    assert "too deep" in order_error(calls_in_a_row(3000))
    check_order(graph_of(calls_in_a_row(MAX_CALL_DEPTH - 1)))


def test_the_deepest_calls_can_be_estimated() -> None:
    model = ModelFile.of("deep.tflite", calls_in_a_row(MAX_CALL_DEPTH - 1).build())
    assert estimate(model, Profile("2026-08", "arm32")).arena_used_bytes > 0


def test_dead_tensors_are_pointed_out() -> None:
    model = chain("RELU")
    model.tensor("dead", [4])
    model.constant("unused", [4])
    assert warnings(model) == ("subgraph 0, tensor 2 'dead' is never used; TFLM gives it memory all the same",)


def test_oddities_are_not_listed_without_end() -> None:
    model = chain("RELU")
    for number in range(25):
        model.tensor(f"dead{number}", [4])
    assert len(warnings(model)) == 21
    assert warnings(model)[-1] == "and 5 more oddities"


def test_an_output_that_is_an_input_is_pointed_out() -> None:
    model = chain("RELU")
    model.output(0)
    assert "both an input and an output" in warnings(model)[0]


def test_a_subgraph_that_is_never_called_is_pointed_out() -> None:
    model = chain("RELU")
    model.subgraph("spare")
    assert warnings(model) == ("subgraph 1 'spare' is never called",)


def test_too_few_zero_points_are_a_hazard() -> None:
    model = chain("RELU")
    model.constant("w", [4, 2], "int8", scales=4, zero_points=1)
    assert "4 scales but only 1 zero points" in hazards(model)[0]


def test_scales_alone_are_no_quantization() -> None:
    model = chain("RELU")
    model.constant("w", [4, 2], "int8", scales=4, zero_points=0)
    assert hazards(model) == warnings(model) == ()


def test_too_many_zero_points_are_only_odd() -> None:
    model = chain("RELU")
    model.constant("w", [4, 2], "int8", scales=1, zero_points=4)
    assert hazards(model) == ()
    assert "4 zero points for 1 scales" in warnings(model)[0]


@pytest.mark.parametrize("dimension", [-1, 2, 1000])
def test_a_quantized_dimension_that_is_not_there_is_a_hazard(dimension: int) -> None:
    model = chain("RELU")
    model.constant("w", [4, 2], "int8", scales=4, quantized_dimension=dimension)
    assert f"quantized along dimension {dimension}" in hazards(model)[0]


def test_biases_carry_their_filters_dimension() -> None:
    model = chain("RELU")
    model.constant("b", [4], "int32", scales=4, quantized_dimension=3)
    assert hazards(model) == ()


def test_scales_that_do_not_match_their_dimension_are_odd() -> None:
    model = chain("RELU")
    model.constant("w", [4, 2], "int8", scales=3)
    assert "3 scales along dimension 0 of size 4" in warnings(model)[0]


def test_more_constant_data_than_needed_is_odd() -> None:
    model = chain("RELU")
    model.constant("w", [4], data=bytes(20))
    assert "20 bytes of constant data, of which its shape needs 16" in warnings(model)[0]


def test_compressed_constants_are_a_hazard() -> None:
    model = chain("RELU")
    model.metadata["COMPRESSION_METADATA"] = b"x"
    assert "compressed" in hazards(model)[0]
