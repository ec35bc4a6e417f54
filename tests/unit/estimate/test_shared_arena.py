"""Several models that never run at once, in one arena."""

import pytest

from harness.domain.estimate import Profile
from harness.errors import UsageError
from harness.estimate import ModelFile, estimate
from harness.estimate.shared_arena import shared_estimate
from tests.support.models import chain

PROFILE = Profile("2026-08", "arm32")
SMALL = ModelFile.of("small", chain("RELU", "TANH", size=16).build())
WIDE = ModelFile.of("wide", chain("RELU", size=1000).build())
OBJECTS_BYTES = 36 + 44 + 36  # allocator, planner and micro allocator: there once


def test_persistent_parts_add_up_and_the_largest_head_counts():
    shared = shared_estimate([SMALL, WIDE], PROFILE)
    small, wide = estimate(SMALL, PROFILE), estimate(WIDE, PROFILE)
    assert shared.model == "(shared)"
    assert shared.head_bytes == wide.head_bytes
    assert abs(shared.tail_bytes - (small.tail_bytes + wide.tail_bytes - OBJECTS_BYTES)) < 16
    assert shared.arena_used_bytes == sum(section.size_bytes for section in shared.sections)
    assert shared.recommended_arena_bytes >= shared.min_working_arena_bytes >= wide.min_working_arena_bytes
    (said,) = shared.warnings
    assert f"{small.arena_used_bytes + wide.arena_used_bytes:,}" in said


def test_the_head_stays_as_large_as_the_largest_whatever_comes_last():
    one, other = shared_estimate([SMALL, WIDE], PROFILE), shared_estimate([WIDE, SMALL], PROFILE)
    assert one.head_bytes == other.head_bytes
    assert abs(one.min_working_arena_bytes - other.min_working_arena_bytes) < 32


def test_sharing_with_itself_costs_only_what_persists():
    alone, shared = estimate(WIDE, PROFILE), shared_estimate([WIDE, WIDE, WIDE], PROFILE)
    assert shared.arena_used_bytes < alone.arena_used_bytes + 2 * alone.tail_bytes


def test_one_model_has_nothing_to_share():
    with pytest.raises(UsageError, match="two models or more"):
        shared_estimate([SMALL], PROFILE)


def test_a_tflm_whose_interpreters_cannot_share():
    with pytest.raises(UsageError, match="cannot share an allocator"):
        shared_estimate([SMALL, WIDE], Profile("2020-07", "arm32"))
