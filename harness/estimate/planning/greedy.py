"""TFLM's GreedyMemoryPlanner (tensorflow/lite/micro/memory_planner/greedy_memory_planner.cc).

Large buffers first, each at the lowest offset where it fits between those already placed. The generations differ in
which of two equal buffers goes first, which can change the plan.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterable, Sequence

from harness.estimate.planning import Buffer, Placement, placement


def greedy_first_wins(buffers: Sequence[Buffer]) -> Placement:
    """As TFLM 2020-07: of equal sizes the lower index first; offsets decided elsewhere are not known to it."""
    order = sorted(range(len(buffers)), key=lambda index: (-buffers[index].size_bytes, index))
    return _place(buffers, [], order)


def greedy_last_wins(buffers: Sequence[Buffer]) -> Placement:
    """As TFLM 2026-08: buffers with a given offset first, unconditionally; of equal sizes the higher index first."""
    given = [index for index, buffer in enumerate(buffers) if buffer.offset is not None]
    free = [index for index, buffer in enumerate(buffers) if buffer.offset is None]
    return _place(buffers, given, sorted(free, key=lambda index: (-buffers[index].size_bytes, -index)))


def _place(buffers: Sequence[Buffer], given: Sequence[int], order: Sequence[int]) -> Placement:
    offsets = [0] * len(buffers)
    placed: list[tuple[int, int, Buffer]] = []  # (offset, turn, buffer): equal offsets stay in the order of their turns
    for turn, index in enumerate((*given, *order)):
        buffer = buffers[index]
        offset = buffer.offset if turn < len(given) else None
        offsets[index] = _lowest_fit(buffer, placed) if offset is None else offset
        insort(placed, (offsets[index], turn, buffer))
    return placement(buffers, offsets)


def _lowest_fit(buffer: Buffer, placed: Iterable[tuple[int, int, Buffer]]) -> int:
    """The lowest offset at which a buffer meets none of those placed, which come by ascending offset."""
    candidate = 0
    for offset, _, other in placed:
        if not other.meets(buffer):
            continue
        if offset - candidate >= buffer.size_bytes:
            break
        candidate = max(candidate, offset + other.size_bytes)
    return candidate
