from __future__ import annotations

from harness.estimate.planning import Buffer
from harness.estimate.planning.tflite import arena_planner, first_fit_decreasing, simple_memory_arena


def test_simple_memory_arena_goes_in_order_of_execution_into_the_tightest_gap() -> None:
    some = [Buffer(64, 0, 1), Buffer(16, 0, 4), Buffer(32, 0, 1), Buffer(16, 0, 4), Buffer(32, 2, 4)]
    plan = simple_memory_arena(some)
    assert plan.offsets == (0, 64, 80, 112, 80)


def test_simple_memory_arena_places_scratch_before_the_operator_s_outputs() -> None:
    output, scratch = Buffer(32, 1, 2), Buffer(16, 1, 1)
    assert simple_memory_arena([output, scratch]).offsets == (16, 0)


def test_arena_planner_puts_what_lives_all_the_time_at_the_bottom() -> None:
    some = [Buffer(64, 0, 1), Buffer(16, 0, 3), Buffer(48, 2, 3)]
    assert arena_planner(some).offsets == (16, 0, 16)


def test_first_fit_takes_the_lowest_gap_and_arena_planner_the_tightest() -> None:
    # Below and above the long-lived buffers two holes open at step 2: one of 64 bytes, higher up one of 32.
    some = [
        Buffer(16, 0, 3),
        Buffer(96, 0, 1),
        Buffer(80, 0, 2),
        Buffer(64, 0, 1),
        Buffer(48, 0, 2),
        Buffer(32, 2, 2),
    ]
    lowest, tightest = first_fit_decreasing(some), arena_planner(some)
    assert lowest.offsets[:5] == tightest.offsets[:5] == (0, 16, 112, 192, 256)
    assert (lowest.offsets[5], tightest.offsets[5]) == (16, 192)
