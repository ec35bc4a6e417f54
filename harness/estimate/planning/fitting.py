"""Placing buffers one after the other, each into a gap that those before it left."""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from harness.estimate.planning import Buffer, Placement, placement


class Gap(NamedTuple):
    """Free bytes between buffers that are in use at the same time.

    Attributes:
        start: its first byte.
        room: how many; infinite above the highest buffer.
    """

    start: int
    room: float


Choice = Callable[[Iterator[Gap]], Gap]


def first_gap(gaps: Iterator[Gap]) -> Gap:
    """The lowest."""
    return next(gaps)


def tightest_gap(gaps: Iterator[Gap]) -> Gap:
    """The smallest, of equal ones the lowest."""
    return min(gaps, key=lambda gap: gap.room)


def place_in_order(buffers: Sequence[Buffer], order: Sequence[int], choose: Choice) -> Placement:
    """Place buffers in the order given by their indices; `choose` picks among the gaps that are large enough."""
    offsets = [0] * len(buffers)
    placed: list[tuple[int, int]] = []  # (offset, index), by ascending offset
    for index in order:
        if buffers[index].size_bytes:
            neighbours = [(at, buffers[other]) for at, other in placed if buffers[other].meets(buffers[index])]
            offsets[index] = choose(_gaps(buffers[index].size_bytes, neighbours)).start
            insort(placed, (offsets[index], index))
    return placement(buffers, offsets)


def _gaps(size_bytes: int, neighbours: Sequence[tuple[int, Buffer]]) -> Iterator[Gap]:
    """The gaps that are large enough between neighbours, which come by ascending offset."""
    end = 0
    for offset, other in neighbours:
        if offset - end >= size_bytes:
            yield Gap(end, offset - end)
        end = max(end, offset + other.size_bytes)
    yield Gap(end, float("inf"))
