"""The arithmetic of TFLM's arena: a head that grows up from the base, and a tail that grows down from the end.

An allocation from the tail moves the tail down by its bytes and then further down to its alignment, so that the bytes
used depend on the end address modulo 16. A Trace lists what a model does to the arena; replaying it for one end address
gives the bytes used, by section, and the smallest size with which every step succeeds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

ALIGNMENT: Final = 16
"""Of the arena's base, of planned buffers, and of what kernels allocate for themselves."""

SIZE_STEP: Final = 4
"""Arena sizes that make sense are multiples of this."""


def align_up(value: int, alignment: int) -> int:
    """The next multiple of `alignment` at or above `value`."""
    return -(-value // alignment) * alignment


class Allocate(NamedTuple):
    """Take bytes from the tail, for good."""

    section: str
    size_bytes: int
    align: int


class Head(NamedTuple):
    """The head now ends `top_bytes` above the base; when `must_fit`, it may not reach into the tail."""

    top_bytes: int
    must_fit: bool = True


class PlannerRoom(NamedTuple):
    """The planner works in the free middle and needs `size_bytes` of it, but keeps none.

    Attributes:
        front_bytes: taken above the base before the planner's room begins.
        back_bytes, align: taken below the tail before it ends.
        size_bytes: what must be left between them.
    """

    front_bytes: int
    back_bytes: int
    align: int
    size_bytes: int


Event = Allocate | Head | PlannerRoom
Trace = tuple[Event, ...]


@dataclass(frozen=True)
class Usage:
    """What a trace does to an arena with one end address.

    Attributes:
        sections: bytes of the tail by section, padding included, in order of first allocation.
        tail_bytes: their sum.
        minimum_bytes: the size below which some step fails.
    """

    sections: Mapping[str, int]
    tail_bytes: int
    minimum_bytes: int


def replay(trace: Iterable[Event], end: int) -> Usage:
    """Follow a trace in an arena that ends at an address congruent to `end` modulo 16."""
    sections: dict[str, int] = {}
    tail = head = minimum = 0
    for event in trace:
        match event:
            case Allocate(section, size_bytes, align):
                before = tail
                tail = _lowered(tail, size_bytes, align, end)
                sections[section] = sections.get(section, 0) + tail - before
                minimum = max(minimum, tail + head)
            case Head(top_bytes, must_fit):
                head = top_bytes
                minimum = max(minimum, tail + head if must_fit else 0)
            case PlannerRoom(front_bytes, back_bytes, align, size_bytes):
                minimum = max(minimum, _lowered(tail, back_bytes, align, end) + front_bytes + size_bytes)
    return Usage(sections, tail, minimum)


def _lowered(tail: int, size_bytes: int, align: int, end: int) -> int:
    """How far below the end the tail lies after `size_bytes` more."""
    lowered = tail + size_bytes
    return lowered + (end - lowered) % align


def smallest_size(trace: Trace) -> int:
    """The smallest arena, base aligned to 16 and size a multiple of 4, in which every step of a trace succeeds."""
    return min(size_ending_at(end, replay(trace, end).minimum_bytes) for end in range(0, ALIGNMENT, SIZE_STEP))


def size_ending_at(end: int, at_least: int) -> int:
    """The smallest size congruent to `end` modulo 16 that is not below `at_least`."""
    return at_least + (end - at_least) % ALIGNMENT
