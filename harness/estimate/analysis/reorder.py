"""Search for another order of the operators that would need less memory.

What is in use after some operators have run depends only on which they are, not on their order. So the search goes over
sets of operators, always extending the one with the smallest peak so far: the first complete set is the best order.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import reduce
from operator import or_
from typing import Final

from harness.domain.graph import Graph, Operator, Subgraph

MAX_VISITS: Final = 2_000_000
"""How often the search looks at an operator or tensor before it gives up: some seconds at most."""


@dataclass(frozen=True)
class OrderSearch:
    """The outcome of a search.

    Attributes:
        order: operator numbers of the main subgraph in the best order found; the file's own when none is better.
        states: sets of operators that were looked at.
        is_complete: whether no order has a smaller peak.
    """

    order: tuple[int, ...]
    states: int
    is_complete: bool


@dataclass(frozen=True)
class Needs:
    """Planned bytes of the main subgraph.

    Attributes:
        tensors: by tensor number.
        scratch: by operator number.
    """

    tensors: Mapping[int, int]
    scratch: Mapping[int, int]


def find_order(graph: Graph, needs: Needs, max_visits: int = MAX_VISITS) -> OrderSearch:
    """Search the order of the main subgraph's operators with the smallest sum of live tensors at its worst step."""
    search = _Search(graph.main, needs)
    max_states = max_visits // (len(graph.main.operators) + len(needs.tensors) + 1)
    everything = (1 << len(graph.main.operators)) - 1
    # Of equal peaks the larger set first: it is nearer to the end. Then the order nearest to the file's.
    queue: list[tuple[int, int, tuple[int, ...], int]] = [(0, 0, (), 0)]
    seen: set[int] = set()
    while queue and len(seen) < max_states:
        peak, _, order, done = heapq.heappop(queue)
        if done == everything:
            return OrderSearch(order, len(seen), is_complete=True)
        if done in seen:
            continue
        seen.add(done)
        for index, live in search.next_steps(done, peak):
            following = (*order, index)
            heapq.heappush(queue, (max(peak, live), -len(following), following, done | 1 << index))
    return OrderSearch(tuple(range(len(graph.main.operators))), len(seen), is_complete=False)


def reordered(graph: Graph, order: tuple[int, ...]) -> Graph:
    """The graph with the main subgraph's operators in another order, numbered anew."""
    operators = tuple(replace(graph.main.operators[old], index=new) for new, old in enumerate(order))
    main = replace(graph.main, operators=operators)
    return replace(graph, subgraphs=(main, *graph.subgraphs[1:]))


class _Search:
    """What may run next, and what is in use then. Sets of operators are bit masks."""

    def __init__(self, main: Subgraph, needs: Needs) -> None:
        self._main = main
        self._needs = needs
        self._before = _predecessors(main)
        self._readers = _masks(main, writes=False)
        self._writers = _masks(main, writes=True)

    def next_steps(self, done: int, peak: int) -> list[tuple[int, int]]:
        """The operators that may come next after those done, each with the bytes in use while it runs.

        One that neither raises the peak nor leaves more in use than before loses nothing by coming first: it is then
        the only one worth trying.
        """
        live = self._live(done)
        ready = []
        for operator in self._main.operators:
            index, this = operator.index, 1 << operator.index
            if done & this or self._before[index] & ~done:
                continue
            during = live + self._written(operator) + self._needs.scratch.get(index, 0)
            if during <= peak and self._live(done | this) <= live:
                return [(index, during)]
            ready.append((index, during))
        return ready

    def _live(self, done: int) -> int:
        """Bytes in use between two operators."""
        return sum(size for tensor, size in self._needs.tensors.items() if self._is_live(tensor, done))

    def _written(self, operator: Operator) -> int:
        """Bytes that an operator's outputs take."""
        return sum(self._needs.tensors.get(tensor, 0) for tensor in {*operator.outputs} - {*self._main.inputs})

    def _is_live(self, tensor: int, done: int) -> bool:
        """Whether a tensor is in use between two operators."""
        is_there = tensor in self._main.inputs or bool(self._writers[tensor] & done)
        return is_there and (tensor in self._main.outputs or bool(self._readers[tensor] & ~done))


def _masks(main: Subgraph, *, writes: bool) -> list[int]:
    """By tensor, the operators that write or read it."""
    masks = [0] * len(main.tensors)
    for operator in main.operators:
        for tensor in operator.outputs if writes else operator.inputs:
            if tensor >= 0:
                masks[tensor] |= 1 << operator.index
    return masks


def _predecessors(main: Subgraph) -> list[int]:
    """By operator, those that must run before it: writers of what it reads, and what shares a state with it."""
    writers = _masks(main, writes=True)
    variables = _variables(main)
    last_with: dict[object, int] = {}
    last_barrier = 0
    before: list[int] = []
    for operator in main.operators:
        this = 1 << operator.index
        mask = last_barrier
        for tensor in operator.inputs:
            mask |= writers[tensor] if tensor >= 0 else 0
        if _is_barrier(operator, variables):
            mask |= reduce(or_, last_with.values(), 0)
            last_with, last_barrier = {}, this
        for state in _states(main, operator, variables):
            mask |= last_with.get(state, 0)
            last_with[state] = this
        before.append(mask & ~this)
    return before


_RESOURCES: Final = frozenset({"READ_VARIABLE", "ASSIGN_VARIABLE"})
_CALLS: Final = frozenset({"CALL_ONCE", "IF", "WHILE"})


def _variables(main: Subgraph) -> dict[int, tuple[object, object]]:
    """The variable behind each tensor that VAR_HANDLE writes."""
    return {
        tensor: (operator.options.get("container", ""), operator.options.get("shared_name", ""))
        for operator in main.operators
        if operator.name == "VAR_HANDLE"
        for tensor in operator.outputs
    }


def _is_barrier(operator: Operator, variables: Mapping[int, object]) -> bool:
    """Whether an operator may touch any state, so that nothing moves past it."""
    unknown_variable = operator.name in _RESOURCES and operator.inputs[:1] not in {(tensor,) for tensor in variables}
    return operator.is_custom or operator.name in _CALLS or unknown_variable


def _states(main: Subgraph, operator: Operator, variables: Mapping[int, object]) -> set[object]:
    """The variables that an operator reads or writes: of two that share one, the order must stay."""
    touched = {tensor for tensor in (*operator.inputs, *operator.outputs) if tensor >= 0}
    states: set[object] = {tensor for tensor in touched if main.tensors[tensor].is_variable}
    if operator.name in _RESOURCES:
        states |= {variables[tensor] for tensor in touched if tensor in variables}
    return states
