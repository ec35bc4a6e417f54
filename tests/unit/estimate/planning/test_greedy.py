from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.estimate.planning import Buffer, Placement, lower_bound, overlaps
from harness.estimate.planning.greedy import greedy_first_wins, greedy_last_wins

PLANNERS = [greedy_first_wins, greedy_last_wins]
Plan = Callable[[Sequence[Buffer]], Placement]


def _buffer(units: int, first: int, length: int) -> Buffer:
    return Buffer(16 * units, first, first + length)


BUFFERS = st.lists(st.builds(_buffer, st.integers(0, 6), st.integers(-1, 6), st.integers(0, 4)), max_size=14)


@pytest.mark.parametrize("plan", PLANNERS)
@given(buffers=BUFFERS)
def test_buffers_in_use_together_never_share_bytes(plan: Plan, buffers: list[Buffer]) -> None:
    result = plan(buffers)
    assert not overlaps(buffers, result)
    assert result.arena_bytes >= lower_bound(buffers)
    assert result.arena_bytes == max(
        (o + b.size_bytes for o, b in zip(result.offsets, buffers, strict=True)), default=0
    )


@pytest.mark.parametrize("plan", PLANNERS)
def test_nothing_needs_nothing(plan: Plan) -> None:
    assert plan([]) == Placement((), 0)


def test_the_largest_goes_first() -> None:
    assert greedy_first_wins([Buffer(16, 0, 1), Buffer(64, 1, 2)]).offsets == (64, 0)


def test_generations_differ_in_ties() -> None:
    equal = [Buffer(16, 0, 1), Buffer(16, 1, 2)]
    assert greedy_first_wins(equal).offsets == (0, 16)
    assert greedy_last_wins(equal).offsets == (16, 0)


def test_a_tie_can_change_the_arena() -> None:
    buffers = [Buffer(32, 0, 1), Buffer(32, 2, 3), Buffer(32, 1, 2), Buffer(16, 0, 0), Buffer(48, 3, 3)]
    assert greedy_first_wins(buffers).offsets != greedy_last_wins(buffers).offsets


def test_a_gap_is_used_when_it_is_large_enough() -> None:
    buffers = [Buffer(64, 0, 0), Buffer(48, 0, 1), Buffer(32, 1, 2), Buffer(32, 1, 1)]
    assert greedy_first_wins(buffers).offsets == (0, 64, 0, 32)


def test_a_given_offset_is_kept_whatever_lies_there() -> None:
    buffers = [Buffer(64, 0, 3), Buffer(16, 0, 3, offset=32), Buffer(16, 0, 3, offset=32)]
    result = greedy_last_wins(buffers)
    assert result.offsets == (48, 32, 32)
    assert overlaps(buffers, result) == [(1, 2)]


def test_given_offsets_come_first_and_others_fit_between() -> None:
    buffers = [Buffer(64, 0, 3), Buffer(16, 0, 3, offset=4096), Buffer(16, 0, 3, offset=0)]
    assert greedy_last_wins(buffers).offsets == (16, 4096, 0)


def test_never_used_buffers_overlap_only_each_other() -> None:
    buffers = [Buffer(32, -1, -1), Buffer(32, -1, -1), Buffer(64, 0, 5)]
    assert greedy_last_wins(buffers).arena_bytes == 64


def test_an_empty_buffer_takes_no_room() -> None:
    assert greedy_last_wins([Buffer(32, 0, 1), Buffer(0, 0, 1)]).arena_bytes == 32
