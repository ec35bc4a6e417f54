import os
import signal
import subprocess
import sys

import pytest

from harness.bench.file import BenchDut
from harness.errors import ProbeError
from harness.sweep.claims import claim_duts
from tests.support.fake_session import BOARD

# Locks hold for the whole machine, and these tests run in several processes at a time.
LEFT = BenchDut("left", BOARD, probe=f"claims-left-{os.environ.get('PYTEST_XDIST_WORKER', 'alone')}")
RIGHT = BenchDut("right", BOARD, probe="claims-right")
OWN = BenchDut("own", BOARD)

HOLDER = """
import sys, time
from harness.bench.file import BenchDut
from harness.sweep.claims import claim_duts
from tests.support.fake_session import BOARD
with claim_duts([BenchDut("left", BOARD, probe=sys.argv[1])], print):
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def holder():
    process = subprocess.Popen([sys.executable, "-c", HOLDER, LEFT.probe], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline() == "held\n"
        yield process
    finally:
        process.kill()
        process.communicate()


def test_what_another_sweep_uses_is_left_out_and_its_holder_named(holder):
    notes: list[str] = []
    with claim_duts([LEFT, RIGHT, OWN], notes.append) as free:
        assert free == [RIGHT, OWN]
    assert len(notes) == 1
    assert f"process {holder.pid}" in notes[0]


def test_when_all_are_in_use_it_is_an_error(holder):
    with pytest.raises(ProbeError, match="in use"), claim_duts([LEFT], lambda _: None):
        pass


def test_the_lock_of_a_dead_holder_is_taken_over(holder):
    os.kill(holder.pid, signal.SIGKILL)
    holder.wait()
    with claim_duts([LEFT], lambda _: None) as free:
        assert free == [LEFT]
