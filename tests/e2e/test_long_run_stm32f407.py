"""What `make bench` does a thousand times, for a moment: nothing is left over."""

import pytest

from tests.bench.long_run import run_many, usage


@pytest.mark.slow
def test_runs_leave_nothing_behind(needs_firmware):
    assert run_many(4, per_session=3) == 0
    before = usage()
    assert run_many(20, per_session=6) == 0
    after = usage()
    assert (after.descriptors, after.threads, after.children) == (before.descriptors, before.threads, before.children)
