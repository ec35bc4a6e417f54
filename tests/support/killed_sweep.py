"""A sweep in a process of its own, for tests that kill it: python -m tests.support.killed_sweep FOLDER."""

import sys
from pathlib import Path

from harness.bench.file import BenchDut
from harness.errors import ProbeError
from harness.session import RunOptions
from harness.store import open_store
from harness.sweep.claims import claim_sweep
from harness.sweep.crew import ThreadCrew
from harness.sweep.dut_runner import DutRunner
from harness.sweep.policy import Policy
from harness.sweep.runner import run_sweep
from tests.support.fake_session import BOARD, FakeBench, jobs_for
from tests.support.sweeps import Watcher, make_models

MODELS, PAUSE_S = 30, 0.05


def trouble(probe, model):
    """The same trouble in each run: one model that no unit can do."""
    return ProbeError("always") if model == "model05.tflite" else None


def run(folder):
    """Begin the sweep of this folder, or go on with it."""
    path = folder / "harness.db"
    with open_store(path, create=True) as store:
        if not store.sweeps():
            store.begin_sweep(jobs_for(make_models(folder, MODELS), arenas=(2048, 4096)), {})
        with claim_sweep(path, 1):
            store.resume_sweep(1)
            duts = [BenchDut(name, BOARD, probe=name) for name in "ab"]
            crew = ThreadCrew(duts, lambda dut: DutRunner(dut, RunOptions(), FakeBench(trouble, PAUSE_S)))
            run_sweep(store, 1, crew, Policy(retries=1, set_aside_after=99), Watcher())
            crew.close()


if __name__ == "__main__":
    run(Path(sys.argv[1]))
