"""The formula that articles give for CI: the baseline that the layout is measured against.

Arena = largest sum of live tensors + scratch + 24 bytes per registered operator + about 200 bytes for the interpreter,
rounded up to 16. Known weakness: it does not see scratch (4,096 bytes stand for it), nor the persistent data of tensors
and kernels, and counts open dimensions as 1.
"""

from __future__ import annotations

from typing import Final

from harness.domain.estimate import Section
from harness.domain.graph import Graph, Subgraph
from harness.estimate.layout.arena import ALIGNMENT, align_up
from harness.estimate.planning import Buffer, lower_bound
from harness.estimate.planning.lifetimes import by_operator

UNKNOWN_SCRATCH_BYTES: Final = 4096
OPERATOR_BYTES: Final = 24
INTERPRETER_BYTES: Final = 200


def formula_sections(graph: Graph) -> tuple[Section, ...]:
    """The terms of the formula, which add up to its arena size."""
    live = max(_peak_bytes(subgraph) for subgraph in graph.subgraphs)
    registered = len({(operator.code, operator.name) for _, operator in graph.operators()})
    tail = OPERATOR_BYTES * registered + INTERPRETER_BYTES
    total = live + UNKNOWN_SCRATCH_BYTES + tail
    return (
        Section("live_tensors", "head", live),
        Section("scratch", "head", UNKNOWN_SCRATCH_BYTES),
        Section("registered_operators", "tail", OPERATOR_BYTES * registered),
        Section("interpreter", "tail", INTERPRETER_BYTES),
        Section("rounding", "tail", align_up(total, ALIGNMENT) - total),
    )


def _peak_bytes(subgraph: Subgraph) -> int:
    lifetimes = by_operator(subgraph).tensors
    return lower_bound(
        [
            Buffer(_closed(tensor.shape) * tensor.element_bytes, *lifetimes[subgraph.index, tensor.index])
            for tensor in subgraph.tensors
            if not tensor.is_constant
        ]
    )


def _closed(shape: tuple[int, ...]) -> int:
    """Number of elements when open dimensions count as 1."""
    elements = 1
    for size in shape:
        elements *= max(size, 1)
    return elements
