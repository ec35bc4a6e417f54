from __future__ import annotations

import pytest

from harness.domain.graph import Graph
from harness.estimate.reading.parse import parse
from harness.estimate.shapes.open_dimensions import infer_reshapes
from tests.support.models import ModelBuilder


def reshaped(source: list[int], *targets: list[int], name: str = "RESHAPE") -> Graph:
    model = ModelBuilder()
    last = model.input("x", source)
    for number, shape in enumerate(targets):
        target = model.tensor(f"y{number}", shape)
        model.operator(name, [last], [target])
        last = target
    return infer_reshapes(parse(model.build()))


def test_reshape_fills_in_its_open_dimension() -> None:
    output = reshaped([2, 6], [3, -1]).main.tensors[1]
    assert output.shape == (3, 4)
    assert output.shape_inferred


def test_one_reshape_feeds_the_next() -> None:
    assert reshaped([2, 6], [3, -1], [-1]).main.tensors[2].shape == (12,)


def test_a_model_without_open_dimensions_stays_as_it_is() -> None:
    assert not reshaped([2, 6], [12]).main.tensors[1].shape_inferred


@pytest.mark.parametrize(
    ("source", "target", "name"),
    [
        ([2, 6], [-1, -1], "RESHAPE"),
        ([2, 6], [5, -1], "RESHAPE"),
        ([2, 6], [0, -1], "RESHAPE"),
        ([-1, 6], [-1], "RESHAPE"),
        ([2, 6], [3, -1], "RELU"),
    ],
)
def test_what_reshape_could_not_work_out_stays_open(source: list[int], target: list[int], name: str) -> None:
    assert reshaped(source, target, name=name).main.tensors[1].shape == tuple(target)
