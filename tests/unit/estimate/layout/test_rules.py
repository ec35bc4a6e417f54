from __future__ import annotations

import pytest

from harness.domain.graph import Operator, Subgraph, Tensor
from harness.estimate.layout.rules import (
    Node,
    OpRule,
    dimension_of,
    int_array_bytes,
    is_float,
    is_int8,
    is_int16,
    is_quantized,
    persistent,
    rule,
    scratch,
)

X, W, Y = (
    Tensor(0, "x", "int8", 1, (1, 8), scales=1, zero_points=1),
    Tensor(1, "w", "int16", 2, (4, 8), scales=4, zero_points=4),
    Tensor(2, "y", "float32", 4, (1, 4)),
)


def node(inputs: tuple[int, ...] = (0, 1, -1), outputs: tuple[int, ...] = (2,), pointer_bytes: int = 4) -> Node:
    operator = Operator(0, "ANY", 0, 0, 0, 1, inputs, outputs)
    return Node(Subgraph(0, "", (X, W, Y), (operator,), (), ()), operator, pointer_bytes)


def test_a_node_tells_of_its_tensors() -> None:
    n = node()
    assert (n.type(), n.type(1), n.type(2), n.type(9)) == ("int8", "int16", "", "")
    assert (n.dim(1, 0), n.dim(1, -1), n.dim(1, 2), n.dim(2, 0)) == (4, 8, 0, 0)
    assert (n.rank(1), n.elements(1), n.bytes(1), n.channels(1)) == (2, 32, 64, 4)
    assert (n.rank(2), n.elements(2), n.bytes(2), n.channels(2)) == (0, 0, 0, 0)
    assert (n.out_dim(1), n.out_elements, n.out_shape_bytes) == (4, 4, 12)
    assert n.inputs == [X, W]


def test_a_node_without_output() -> None:
    n = node(outputs=())
    assert n.output is None
    assert (n.out_dim(0), n.out_elements, n.out_shape_bytes) == (0, 0, 4)


@pytest.mark.parametrize(
    ("first", "answers"),
    [(0, (True, False, True, False)), (1, (False, True, True, False)), (2, (False, False, False, True))],
)
def test_conditions_look_at_the_first_input(first: int, answers: tuple[bool, ...]) -> None:
    n = node((first,))
    assert (is_int8(n), is_int16(n), is_quantized(n), is_float(n)) == answers


def test_sizes_may_depend_on_pointers_nodes_and_conditions() -> None:
    assert persistent(7).size(node()) == 7
    assert [persistent((12, 24)).size(node(pointer_bytes=width)) for width in (4, 8)] == [12, 24]
    assert scratch(lambda n: n.elements(0)).size(node()) == 8
    assert scratch(7, is_int16).size(node()) is None


def test_a_single_number_stands_for_both_pointer_sizes() -> None:
    assert rule(8, (4, 16), align=1) == OpRule((8, 8), (1, 1), (4, 16), ())


def test_a_dimension_that_is_not_there_is_0() -> None:
    assert [dimension_of(W, number) for number in (0, 1, 2, -1, -2, -3)] == [4, 8, 0, 8, 4, 0]
    assert dimension_of(None, 0) == 0


def test_an_int_array_begins_with_its_length() -> None:
    assert int_array_bytes(3) == 16
