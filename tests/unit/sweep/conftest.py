import pytest

from harness.bench.file import BenchDut
from harness.session import RunOptions
from harness.store import open_store
from harness.sweep.crew import ThreadCrew
from harness.sweep.dut_runner import DutRunner
from harness.sweep.policy import Policy
from harness.sweep.runner import run_sweep
from tests.support.fake_session import BOARD, FakeBench, jobs_for
from tests.support.sweeps import Watcher, make_models


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
