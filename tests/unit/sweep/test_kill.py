"""A sweep that is killed at any moment, and resumed, ends as one that was left alone."""

import os
import random
import signal
import subprocess
import sys
import time

import pytest

from harness.errors import BenchError
from harness.store import open_store
from harness.sweep.claims import claim_sweep
from tests.support.killed_sweep import MODELS, run

KILLS = 20
COMMAND = [sys.executable, "-m", "tests.support.killed_sweep"]


def table(folder):
    """The final table, without what differs between any two runs."""
    with open_store(folder / "harness.db") as store:
        return [
            (each.job, each.verdict, each.causes, each.flaky, each.failures, each.attempt.used_bytes)
            for each in store.job_results(1)
        ]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    run(folder)
    return folder


def wait_for_attempts(folder, count, process):
    """Until so many attempts were begun; the moment within the next one is left to chance."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and process.poll() is None:
        if (folder / "harness.db").exists():
            with open_store(folder / "harness.db") as store:
                if store.sweeps() and len(store.attempts(1)) >= count:
                    return
        time.sleep(0.002)


@pytest.mark.slow
def test_killed_at_twenty_moments(undisturbed, tmp_path):
    chance = random.Random(2026)  # noqa: S311 - no secret
    begun = 0
    for _ in range(KILLS):
        process = subprocess.Popen([*COMMAND, str(tmp_path)], stderr=subprocess.PIPE)
        wait_for_attempts(tmp_path, begun + 1, process)
        time.sleep(chance.uniform(0, 0.1))
        os.kill(process.pid, signal.SIGKILL)
        _, complaints = process.communicate()
        assert process.returncode == -signal.SIGKILL, complaints.decode()
        with open_store(tmp_path / "harness.db") as store:
            begun = len(store.attempts(1))
    run(tmp_path)
    same = [(job.number, *rest) for job, *rest in table(tmp_path)]
    assert same == [(job.number, *rest) for job, *rest in table(undisturbed)]
    with open_store(tmp_path / "harness.db") as store:
        attempts = store.attempts(1)
    done = [each.job for each in attempts if each.state == "done"]
    assert len(done) == len(set(done)) == (MODELS - 1) * 2
    assert sum(each.state == "interrupted" for each in attempts) <= KILLS * 2
    assert not any(each.state == "running" for each in attempts)


def test_a_sweep_is_not_run_twice_at_once(tmp_path):
    with claim_sweep(tmp_path / "harness.db", 1):
        with pytest.raises(BenchError, match="in use") as refused, claim_sweep(tmp_path / "harness.db", 1):
            pass
        assert str(os.getpid()) in str(refused.value)
