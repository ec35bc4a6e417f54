"""The planners of TensorFlow Lite, TFLM's larger sibling, over the same buffers.

Sources: tensorflow/lite/simple_memory_arena.cc (a buffer goes into the tightest gap that is large enough, or else above
all that are in use) and tensorflow/lite/arena_planner.cc (the order in which they go). TensorFlow Lite aligns to 64
bytes; here the buffers keep TFLM's sizes, so that only the plans differ.
"""

from __future__ import annotations

from collections.abc import Sequence

from harness.estimate.planning import Buffer, Placement
from harness.estimate.planning.fitting import first_gap, place_in_order, tightest_gap


def simple_memory_arena(buffers: Sequence[Buffer]) -> Placement:
    """As until 2020: in the order of execution, an operator's scratch before its outputs."""

    def turn(index: int) -> tuple[int, bool, int]:
        buffer = buffers[index]
        return buffer.first, buffer.last > buffer.first, index

    return place_in_order(buffers, sorted(range(len(buffers)), key=turn), tightest_gap)


def arena_planner(buffers: Sequence[Buffer]) -> Placement:
    """As today: what is in use during the whole run first, then by descending size, of equal sizes the earlier one."""
    return place_in_order(buffers, _whole_run_then_size(buffers), tightest_gap)


def first_fit_decreasing(buffers: Sequence[Buffer]) -> Placement:
    """In ArenaPlanner's order, each into the lowest gap instead of the tightest."""
    return place_in_order(buffers, _whole_run_then_size(buffers), first_gap)


def _whole_run_then_size(buffers: Sequence[Buffer]) -> list[int]:
    start = min((buffer.first for buffer in buffers), default=0)
    end = max((buffer.last for buffer in buffers), default=0)

    def turn(index: int) -> tuple[int, int, int, int]:
        buffer = buffers[index]
        if (buffer.first, buffer.last) == (start, end):
            return 0, 0, 0, index
        return 1, -buffer.size_bytes, buffer.first, index

    return sorted(range(len(buffers)), key=turn)
