from __future__ import annotations

import pytest

from harness.estimate.reading.operands import operand_hazards
from harness.estimate.reading.parse import parse
from tests.support.models import ModelBuilder, chain


def hazards(model: ModelBuilder) -> list[str]:
    return list(operand_hazards(parse(model.build())))


def convolution(filter_shape: list[int]) -> ModelBuilder:
    model = ModelBuilder()
    x, w = model.input("x", [1, 4, 4, 2]), model.constant("w", filter_shape)
    y = model.tensor("y", [1, 4, 4, 3])
    model.operator("CONV_2D", [x, w, -1], [y])
    model.output(y)
    return model


def test_what_the_converter_writes_is_fine() -> None:
    assert hazards(convolution([3, 1, 1, 2])) == []
    assert hazards(chain("RELU", "SOFTMAX")) == []


def test_a_missing_or_absent_input_is_named() -> None:
    model = chain("ADD")
    assert hazards(model) == ["subgraph 0, operator 0 ADD has no input 1, which its kernel reads"]
    model.operators[0].inputs = [0, -1]
    assert hazards(model) == ["subgraph 0, operator 0 ADD has no input 1, which its kernel reads"]


def test_optional_inputs_may_be_absent() -> None:
    model = chain("SVDF", size=4)
    model.operators[0].inputs = [0, 0, 0, -1, 0]
    assert hazards(model) == []


@pytest.mark.parametrize("outputs", [[], [-1]])
def test_a_missing_output_is_named(outputs: list[int]) -> None:
    model = chain("RELU")
    model.operators[0].outputs = outputs
    assert hazards(model) == ["subgraph 0, operator 0 RELU has no output"]


def test_too_few_dimensions_are_named() -> None:
    assert hazards(convolution([6])) == ["subgraph 0, operator 0 CONV_2D reads 4 dimensions of tensor 1, which has 1"]
