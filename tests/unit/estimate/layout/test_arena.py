from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.estimate.layout.arena import (
    Allocate,
    Event,
    Head,
    PlannerRoom,
    align_up,
    replay,
    size_ending_at,
    smallest_size,
)


class ByteArena:
    """TFLM's allocator on real addresses, as its source does it: the arena lies at `base`, which is aligned to 16."""

    def __init__(self, size_bytes: int, base: int = 4096) -> None:
        self.base = self.head = base
        self.tail = self.end = base + size_bytes

    def follow(self, event: Event) -> bool:
        match event:
            case Allocate(_, size_bytes, align):
                tail = (self.tail - size_bytes) // align * align
                fits, self.tail = tail >= self.head, tail
                return fits
            case Head(top_bytes, must_fit):
                self.head = self.base + top_bytes
                return not must_fit or self.head <= self.tail
            case PlannerRoom(front_bytes, back_bytes, align, size_bytes):
                return (self.tail - back_bytes) // align * align - (self.base + front_bytes) >= size_bytes

    def works(self, trace: tuple[Event, ...]) -> bool:
        outcomes = [self.follow(event) for event in trace]
        return all(outcomes)


EVENTS = st.one_of(
    st.builds(Allocate, st.sampled_from("abc"), st.integers(0, 99), st.sampled_from([1, 4, 8, 16])),
    st.builds(Head, st.integers(0, 300), st.booleans()),
    st.builds(PlannerRoom, st.integers(0, 99), st.integers(0, 99), st.sampled_from([4, 8, 16]), st.integers(0, 300)),
)
TRACES = st.lists(EVENTS, max_size=12).map(tuple)


@given(TRACES, st.integers(1000, 1015).map(lambda words: 4 * words))
def test_tail_is_what_addresses_give(trace: tuple[Event, ...], size_bytes: int) -> None:
    arena = ByteArena(size_bytes)
    arena.works(trace)
    usage = replay(trace, size_bytes % 16)
    assert usage.tail_bytes == arena.end - arena.tail == sum(usage.sections.values())


@given(TRACES)
def test_the_smallest_size_works_and_no_smaller_one_does(trace: tuple[Event, ...]) -> None:
    smallest = smallest_size(trace)
    assert smallest % 4 == 0
    assert ByteArena(smallest).works(trace)
    assert not any(ByteArena(size_bytes).works(trace) for size_bytes in range(0, smallest, 4))


def test_padding_depends_on_where_the_arena_ends() -> None:
    trace = (Allocate("a", 4, 16),)
    assert [replay(trace, end).tail_bytes for end in (0, 4, 8, 12)] == [16, 4, 8, 12]


def test_sections_keep_their_order_and_take_their_padding() -> None:
    usage = replay((Allocate("b", 4, 4), Allocate("a", 1, 16), Allocate("b", 1, 4)), 0)
    assert list(usage.sections.items()) == [("b", 8), ("a", 12)]


@pytest.mark.parametrize(("value", "alignment", "up"), [(0, 16, 0), (1, 16, 16), (16, 16, 16), (17, 4, 20)])
def test_align_up(value: int, alignment: int, up: int) -> None:
    assert align_up(value, alignment) == up


@pytest.mark.parametrize(("end", "at_least", "size"), [(0, 1, 16), (4, 4, 4), (4, 5, 20), (12, 0, 12)])
def test_size_ending_at(end: int, at_least: int, size: int) -> None:
    assert size_ending_at(end, at_least) == size
