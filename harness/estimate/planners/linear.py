"""TFLM's LinearMemoryPlanner: every buffer gets its own place."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from harness.estimate.planners import Buffer, Placement, placement


def linear(buffers: Sequence[Buffer]) -> Placement:
    """One buffer behind the other, in the order given."""
    ends = accumulate((buffer.size_bytes for buffer in buffers), initial=0)
    return placement(buffers, list(ends)[:-1])
