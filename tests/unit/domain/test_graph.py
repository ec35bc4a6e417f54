from __future__ import annotations

import pytest

from harness.domain.graph import (
    Graph,
    Operator,
    Subgraph,
    Tensor,
    called_subgraphs,
    operator_place,
    quoted,
    tensor_place,
)


def operator(name: str, code: int = 0, **options: int | str) -> Operator:
    return Operator(3, name, code, code, code, 1, (0,), (1,), options)


def test_a_tensors_size() -> None:
    tensor = Tensor(0, "x", "int16", 2, (2, 3))
    assert (tensor.elements, tensor.size_bytes) == (6, 12)
    assert Tensor(0, "scalar", "int64", 8, ()).size_bytes == 8


@pytest.mark.parametrize(("scales", "zero_points", "channels"), [(0, 0, 0), (4, 0, 0), (0, 4, 0), (4, 1, 4)])
def test_scales_count_only_beside_zero_points(scales: int, zero_points: int, channels: int) -> None:
    tensor = Tensor(0, "x", "int8", 1, (4,), scales=scales, zero_points=zero_points)
    assert tensor.quantization_channels == channels


def test_options_have_defaults() -> None:
    assert operator("SVDF", rank=2).option("rank") == 2
    assert operator("SVDF").option("rank", 7) == 7
    assert operator("VAR_HANDLE", container="c").option("container", 7) == 7


def test_called_subgraphs_come_in_the_order_of_their_visit() -> None:
    assert called_subgraphs(operator("WHILE", body_subgraph_index=2, cond_subgraph_index=1)) == (1, 2)
    assert called_subgraphs(operator("ADD")) == ()


def test_untrusted_names_are_shown_in_quotes_on_one_line() -> None:
    assert quoted("a\n'b'\x1b") == "\"a\\n'b'\\x1b\""
    assert quoted("é") == "'é'"
    assert len(quoted("x" * 1000)) == 62


def test_places_name_subgraph_and_number() -> None:
    subgraph = Subgraph(1, "s", (Tensor(0, "x", "int8", 1, ()),), (), (), ())
    assert tensor_place(subgraph, subgraph.tensors[0]) == "subgraph 1, tensor 0 'x'"
    assert operator_place(subgraph, operator("ADD")) == "subgraph 1, operator 3 ADD"
    assert operator_place(subgraph, operator("my\nop", code=32)) == "subgraph 1, operator 3 'my\\nop'"


def test_a_graph_walks_subgraph_by_subgraph() -> None:
    tensor = Tensor(0, "x", "int8", 1, ())
    subgraphs = tuple(Subgraph(n, "", (tensor,) * (n + 1), (operator("ADD"),), (), ()) for n in range(2))
    graph = Graph("m", subgraphs)
    assert graph.tensor_count == 3
    assert [subgraph.index for subgraph, _ in graph.tensors()] == [0, 1, 1]
    assert [subgraph.index for subgraph, _ in graph.operators()] == [0, 1]
    assert graph.main is subgraphs[0]
