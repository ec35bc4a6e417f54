"""Lifetimes of tensors: when each is in use, as each TFLM generation counts it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from harness.domain.graph import CUSTOM, Graph, Operator, Subgraph, called_subgraphs
from harness.errors import ModelError

UNSET: Final = -1
MAX_STEPS: Final = 100_000
"""Subgraphs that call others twice unfold exponentially; no model for a microcontroller comes near this."""


@dataclass(frozen=True)
class Lifetimes:
    """First and last steps, both included; -1 where none was found.

    Attributes:
        tensors: (first, last) by subgraph and tensor number.
        operators: the steps of each operator that was reached, by subgraph and operator number; its scratch lives for
            them.
    """

    tensors: Mapping[tuple[int, int], tuple[int, int]]
    operators: Mapping[tuple[int, int], tuple[int, int]]


def by_operator(subgraph: Subgraph) -> Lifetimes:
    """As TFLM 2020-07: steps are operator numbers; graph inputs begin at 0, outputs last to the end."""
    first: dict[int, int] = dict.fromkeys(subgraph.inputs, 0)
    last: dict[int, int] = dict.fromkeys(subgraph.outputs, len(subgraph.operators) - 1)
    for step, operator in enumerate(subgraph.operators):
        for tensor in operator.outputs:
            first.setdefault(tensor, step)
        for tensor in operator.inputs:
            last[tensor] = max(last.get(tensor, UNSET), step)
    tensors = {
        (subgraph.index, t.index): (first.get(t.index, UNSET), last.get(t.index, UNSET)) for t in subgraph.tensors
    }
    return Lifetimes(tensors, {(subgraph.index, step): (step, step) for step in range(len(subgraph.operators))})


def by_scope(graph: Graph) -> Lifetimes:
    """As TFLM since 2022-12: one counter that runs through all subgraphs in the order of their calls.

    Raises:
        ModelError: a subgraph calls itself, or calls unfold beyond all bounds.
    """
    return _by_scope(graph, inputs_end=True)


def by_scope_before_2022_11(graph: Graph) -> Lifetimes:
    """As TFLM from 2022-03 on: an input that nobody reads has no end, and an output that nobody writes no begin.

    Raises:
        ModelError: as `by_scope`.
    """
    return _by_scope(graph, inputs_end=False)


def _by_scope(graph: Graph, *, inputs_end: bool) -> Lifetimes:
    walk = _ScopeWalk(graph, inputs_end=inputs_end)
    walk.enter(graph.main)
    tensors = {
        (subgraph.index, tensor.index): (
            walk.first.get((subgraph.index, tensor.index), UNSET),
            walk.last.get((subgraph.index, tensor.index), UNSET),
        )
        for subgraph, tensor in graph.tensors()
    }
    return Lifetimes(tensors, walk.operators)


class _ScopeWalk:
    def __init__(self, graph: Graph, *, inputs_end: bool) -> None:
        self._graph = graph
        self._inputs_end = inputs_end
        self._open: list[int] = []
        self._step = 0
        self.first: dict[tuple[int, int], int] = {}
        self.last: dict[tuple[int, int], int] = {}
        self.operators: dict[tuple[int, int], tuple[int, int]] = {}

    def enter(self, subgraph: Subgraph) -> None:
        """Follow a subgraph from its inputs to its outputs."""
        if subgraph.index in self._open:
            raise ModelError("the subgraph calls itself", where=f"{self._graph.model}, subgraph {subgraph.index}")
        self._open.append(subgraph.index)
        self._touch(subgraph, subgraph.inputs, ends=self._inputs_end)
        for operator in subgraph.operators:
            self._run(subgraph, operator)
        if self._inputs_end:
            self._touch(subgraph, subgraph.outputs, ends=True)
        else:
            self.last.update({(subgraph.index, tensor): self._step for tensor in subgraph.outputs})
        self._open.pop()

    def _run(self, subgraph: Subgraph, operator: Operator) -> None:
        self._advance()
        start = self._step
        self._touch(subgraph, operator.outputs, ends=False)
        for called in _calls_seen(operator):
            self._advance()
            self.enter(self._graph.subgraphs[called])
        for tensor in operator.inputs:
            self.last[subgraph.index, tensor] = self._step
        self._touch(subgraph, operator.outputs, ends=True)
        self.operators[subgraph.index, operator.index] = (start, self._step)

    def _touch(self, subgraph: Subgraph, tensors: tuple[int, ...], *, ends: bool) -> None:
        for tensor in tensors:
            self.first.setdefault((subgraph.index, tensor), self._step)
            if ends:
                self.last[subgraph.index, tensor] = self._step

    def _advance(self) -> None:
        self._step += 1
        if self._step > MAX_STEPS:
            raise ModelError(f"its subgraph calls unfold into more than {MAX_STEPS} steps", where=self._graph.model)


def _calls_seen(operator: Operator) -> tuple[int, ...]:
    """The calls that the planner follows: it looks only at the newer of the two operator code fields."""
    return called_subgraphs(operator) if operator.word_code == operator.code != CUSTOM else ()
