from __future__ import annotations

from harness.errors import ArenaTooSmallError
from harness.tflm_words import explain


def test_an_arena_too_small_for_the_allocator_itself_is_too_small() -> None:
    found = explain(["The arena cannot hold TFLM's own allocator"], "AllocateTensors")
    assert isinstance(found, ArenaTooSmallError)
    assert "not even the allocator fits" in str(found)
