import hashlib

import pytest

from harness.bench.file import BenchDut
from harness.session import RunOptions
from harness.store import open_store
from harness.sweep.crew import ThreadCrew
from harness.sweep.dut_runner import DutRunner
from harness.sweep.policy import Policy
from harness.sweep.runner import run_sweep
from tests.unit.sweep.fake_session import BOARD, FakeBench, jobs_for


class Watcher:
    """Remembers what an observer is told."""

    def __init__(self):
        self.began_jobs = []
        self.ended_jobs = []
        self.notes = []

    def began(self, dut, job):
        self.began_jobs.append((dut, job.model))

    def ended(self, dut, job, outcome, again):
        self.ended_jobs.append((dut, job.model, outcome.result.verdict, again))

    def note(self, text):
        self.notes.append(text)


def make_models(folder, count):
    found = []
    for number in range(count):
        path = folder / f"model{number:02}.tflite"
        path.write_bytes(b"\x1c\0\0\0TFL3" + bytes(992 + number))
        found.append((path, hashlib.sha256(path.read_bytes()).hexdigest()))
    return found


@pytest.fixture
def models(tmp_path):
    return make_models(tmp_path, 6)


@pytest.fixture
def store(tmp_path):
    with open_store(tmp_path / "harness.db", create=True) as opened:
        yield opened


@pytest.fixture
def sweep(store, models):
    """Runs a sweep of all models on units that are called `a`, `b`, …"""

    def run(bench=None, units="ab", policy=None, resume=None, **matrix):
        bench = bench or FakeBench()
        number = resume or store.begin_sweep(jobs_for(models, **matrix), {})
        if resume:
            store.resume_sweep(resume)
        duts = [BenchDut(name, BOARD, probe=name) for name in units]
        crew = ThreadCrew(duts, lambda dut: DutRunner(dut, RunOptions(), bench))
        watcher = Watcher()
        try:
            run_sweep(store, number, crew, policy or Policy(), watcher)
        finally:
            crew.close()
        return number, watcher

    return run
