"""The plan over time: bars, steps, the peak."""

from __future__ import annotations

from typing import Final

from harness.domain.graph import Graph, Operator, Subgraph, operator_place
from harness.domain.plan import Peak, PlanStep, TimelineBar
from harness.estimate.layout.generation import Layout, Owner
from harness.estimate.planning import Buffer
from harness.estimate.planning.lifetimes import Lifetimes

LONG_LIVED_SHARE: Final = 0.5
"""A tensor that is in use for more of the run than this is long-lived."""

_HAND_OVER_STEPS: Final = 2
"""Every tensor is in use while it is written and while it is read; only more than that is long."""


class Timeline:
    """A layout against the clock of its planner.

    Args:
        graph: the model.
        lifetimes: when its operators run.
        layout: where its buffers lie.
    """

    def __init__(self, graph: Graph, lifetimes: Lifetimes, layout: Layout) -> None:
        self._layout = layout
        self._main = {step: index for index, step in _main_steps(graph, lifetimes)}
        self._running = _running(graph, lifetimes)

    def bars(self) -> tuple[TimelineBar, ...]:
        """All buffers, in planning order."""
        layout = self._layout
        return tuple(
            self._bar(owner, buffer, offset)
            for owner, buffer, offset in zip(layout.owners, layout.buffers, layout.plan.offsets, strict=True)
        )

    def steps(self) -> tuple[PlanStep, ...]:
        """Every step from the first to the last."""
        buffers = self._layout.buffers
        starts, ends = [buffer.first for buffer in buffers], [buffer.last for buffer in buffers]
        first, last = min(starts, default=0), max([*ends, *self._running], default=0)
        return tuple(
            PlanStep(
                step=step,
                operator=self._running.get(step),
                live_bytes=sum(b.size_bytes for b in buffers if b.first <= step <= b.last),
                main_operator=self._main.get(step),
            )
            for step in range(first, last + 1)
        )

    def peak(self) -> Peak:
        """The first of the steps at which most is in use."""
        worst = max(self.steps(), key=lambda step: step.live_bytes)
        head = self._layout.plan.arena_bytes
        free = head - worst.live_bytes
        live = [bar for bar in self.bars() if bar.first_step <= worst.step <= bar.last_step]
        return Peak(
            step=worst.step,
            operator=worst.operator,
            live_bytes=worst.live_bytes,
            free_bytes=free,
            fragmentation_percent=percent(free, head),
            live=tuple(sorted(live, key=lambda bar: -bar.size_bytes)),
        )

    def long_lived(self) -> tuple[TimelineBar, ...]:
        """Tensors that are in use for more than half of the run, the costliest (bytes times steps) first."""
        long = max(len(self._running) * LONG_LIVED_SHARE, _HAND_OVER_STEPS)
        found = [bar for bar in self.bars() if bar.kind == "tensor" and self._span(bar) > long]
        return tuple(sorted(found, key=lambda bar: -bar.size_bytes * self._span(bar)))

    def _span(self, bar: TimelineBar) -> int:
        """For how many steps a bar is in use, counted from the first operator on."""
        return bar.last_step - max(bar.first_step, min(self._running, default=0)) + 1

    def _bar(self, owner: Owner, buffer: Buffer, offset: int) -> TimelineBar:
        wants = owner.wants
        is_scratch = isinstance(wants, Operator)
        return TimelineBar(
            name=wants.name,
            kind="scratch" if is_scratch else "tensor",
            place=owner.label,
            type=None if isinstance(wants, Operator) else wants.type,
            shape=None if isinstance(wants, Operator) else wants.shape,
            first_operator=self._main.get(buffer.first),
            last_operator=self._main.get(buffer.last),
            first_step=buffer.first,
            last_step=buffer.last,
            offset_bytes=offset,
            size_bytes=buffer.size_bytes,
        )


def percent(part: int, whole: int) -> float:
    """A share in percent, with two decimals; 0 of nothing."""
    return round(100 * part / whole, 2) if whole else 0.0


def _main_steps(graph: Graph, lifetimes: Lifetimes) -> list[tuple[int, int]]:
    """(operator, step) of the main subgraph; an operator that calls subgraphs has many steps."""
    return [
        (operator.index, step)
        for operator in graph.main.operators
        for step in _steps_of(lifetimes, graph.main, operator)
    ]


def _running(graph: Graph, lifetimes: Lifetimes) -> dict[int, str]:
    """What runs at each step: the innermost operator."""
    reached = [
        (_steps_of(lifetimes, subgraph, operator), operator_place(subgraph, operator))
        for subgraph, operator in graph.operators()
    ]
    outermost_first = sorted(reached, key=lambda entry: -len(entry[0]))
    return {step: place for steps, place in outermost_first for step in steps}


def _steps_of(lifetimes: Lifetimes, subgraph: Subgraph, operator: Operator) -> range:
    first, last = lifetimes.operators.get((subgraph.index, operator.index), (0, -1))
    return range(first, last + 1)
