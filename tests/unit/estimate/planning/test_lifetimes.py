from __future__ import annotations

from typing import Any

import pytest

from harness.domain.graph import Graph
from harness.errors import ModelError
from harness.estimate.planning import lifetimes
from harness.estimate.planning.lifetimes import Lifetimes, by_operator, by_scope
from harness.estimate.reading.parse import parse
from tests.support.models import ModelBuilder, chain


def graph_of(model: ModelBuilder) -> Graph:
    return parse(model.build())


def spans(found: Lifetimes, subgraph: int = 0) -> list[tuple[int, int]]:
    return [span for (number, _), span in found.tensors.items() if number == subgraph]


def test_by_operator_counts_operators() -> None:
    found = by_operator(graph_of(chain("RELU", "ABS", "NEG")).main)
    assert spans(found) == [(0, 0), (0, 1), (1, 2), (2, 2)]
    assert found.operators[0, 1] == (1, 1)


def test_by_operator_an_output_lasts_to_the_end() -> None:
    model = chain("RELU", "ABS", "NEG")
    model.output(1)
    assert spans(by_operator(graph_of(model).main))[1] == (0, 2)


def test_by_operator_unset_ends() -> None:
    model = chain("RELU", "ABS")
    model.tensor("dead", [4])
    read = model.tensor("read", [4])
    model.operator("ADD", [2, read], [model.tensor("unused", [4])])
    found = spans(by_operator(graph_of(model).main))
    assert found[3:] == [(-1, -1), (-1, 2), (2, -1)]


def test_by_scope_counts_from_one() -> None:
    found = by_scope(graph_of(chain("RELU", "ABS", "NEG")))
    assert spans(found) == [(0, 1), (1, 2), (2, 3), (3, 3)]
    assert found.operators[0, 1] == (2, 2)


def test_by_scope_unused_outputs_live_for_their_operator_and_dead_tensors_never() -> None:
    model = chain("RELU")
    model.tensor("dead", [4])
    model.operator("ABS", [0], [model.tensor("unused", [4])])
    assert spans(by_scope(graph_of(model)))[2:] == [(-1, -1), (2, 2)]


def while_model(**more: Any) -> ModelBuilder:
    model = ModelBuilder(**more)
    x, y = model.input("x", [4]), model.tensor("y", [4])
    options = {"CondSubgraphIndex": 1, "BodySubgraphIndex": 2}
    model.operator("WHILE", [x], [y], ("WhileOptions", options))
    model.output(y)
    for name in ("cond", "body"):
        inner = model.subgraph(name)
        a, b = inner.input("a", [4]), inner.tensor("b", [4])
        inner.operator("ABS", [a], [b])
        inner.output(b)
    return model


def test_by_scope_follows_calls_with_one_counter() -> None:
    found = by_scope(graph_of(while_model()))
    assert spans(found, 0) == [(0, 5), (1, 5)]
    assert spans(found, 1) == [(2, 3), (3, 3)]
    assert spans(found, 2) == [(4, 5), (5, 5)]
    assert found.operators[0, 0] == (1, 5)


def test_by_scope_does_not_see_calls_that_only_the_old_code_field_names() -> None:
    model = while_model()
    model.old_codes_only = True
    found = by_scope(graph_of(model))
    assert spans(found, 0) == [(0, 1), (1, 1)]
    assert (1, 0) not in found.operators


def test_by_scope_a_subgraph_called_twice_keeps_its_first_beginning() -> None:
    model = while_model()
    y, z = 1, model.tensor("z", [4])
    model.operator("IF", [y, y], [z], ("IfOptions", {"ThenSubgraphIndex": 1, "ElseSubgraphIndex": 2}))
    found = by_scope(graph_of(model))
    assert spans(found, 1) == [(2, 8), (3, 8)]


def test_a_subgraph_that_calls_itself_is_refused() -> None:
    model = while_model()
    model.others[0].operator("CALL_ONCE", [], [], ("CallOnceOptions", {"InitSubgraphIndex": 1}))
    with pytest.raises(ModelError, match="calls itself"):
        by_scope(graph_of(model))


def test_calls_do_not_unfold_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lifetimes, "MAX_STEPS", 4)
    with pytest.raises(ModelError, match="unfold into more than 4 steps"):
        by_scope(graph_of(while_model()))
