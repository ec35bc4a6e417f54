"""Memory planners: from buffers with sizes and lifetimes to offsets.

Every planner is a function from a sequence of Buffer to a Placement.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol


class Buffer(NamedTuple):
    """Memory that is wanted for a while.

    Attributes:
        size_bytes: how much, rounded up to the planner's alignment already.
        first, last: the steps between which it is in use, both included.
        offset: where it must lie, when that was decided elsewhere.
    """

    size_bytes: int
    first: int
    last: int
    offset: int | None = None

    def meets(self, other: Buffer) -> bool:
        """Whether both are in use at the same time."""
        return self.first <= other.last and other.first <= self.last


@dataclass(frozen=True)
class Placement:
    """A plan.

    Attributes:
        offsets: one per buffer, in the order in which they were given.
        arena_bytes: the end of the highest buffer.
    """

    offsets: tuple[int, ...]
    arena_bytes: int


class Planner(Protocol):
    """Places buffers."""

    def __call__(self, buffers: Sequence[Buffer]) -> Placement:
        """The plan for `buffers`."""


def placement(buffers: Sequence[Buffer], offsets: Sequence[int]) -> Placement:
    """The plan that puts each buffer at its offset."""
    ends = (offset + buffer.size_bytes for offset, buffer in zip(offsets, buffers, strict=True))
    return Placement(tuple(offsets), max(ends, default=0))


def overlaps(buffers: Sequence[Buffer], plan: Placement) -> list[tuple[int, int]]:
    """Pairs of buffers that are in use at the same time and share bytes, by index."""
    spans = [(offset, offset + buffer.size_bytes) for offset, buffer in zip(plan.offsets, buffers, strict=True)]
    return [
        (one, other)
        for other in range(len(buffers))
        for one in range(other)
        if buffers[one].meets(buffers[other])
        and max(spans[one][0], spans[other][0]) < min(spans[one][1], spans[other][1])
    ]


def lower_bound(buffers: Sequence[Buffer]) -> int:
    """Bytes that no plan can go below: the largest sum of buffers in use at one step."""
    return max((sum(b.size_bytes for b in buffers if b.first <= step <= b.last) for step in steps(buffers)), default=0)


def steps(buffers: Sequence[Buffer]) -> list[int]:
    """The steps at which something begins to be used, in order; any peak lies on one of them."""
    return sorted({buffer.first for buffer in buffers})
