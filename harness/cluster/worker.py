"""The machine with the units: offers them to a scheduler, and does what is asked of them."""

from __future__ import annotations

import asyncio
import hashlib
import signal
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from distributed import Worker, WorkerPlugin, get_worker

from harness.bench.file import BenchDut
from harness.cluster import quiet
from harness.cluster.messages import (
    OfferedDut,
    Revival,
    Task,
    offer_to_text,
    outcome_to_text,
    revival_from_text,
    task_from_text,
)
from harness.errors import BenchError, InterruptedRunError
from harness.files.safe import write_if_changed
from harness.files.version import version
from harness.session import RunOptions
from harness.sweep.dut_runner import DutRunner, Outcome

_PLUGIN = "harness-bench"
_CONNECT_S = 30


def resource(dut: str) -> str:
    """What dask calls a unit: a resource of which its worker has one, so that it does one job at a time."""
    return f"dut {dut}"


# --- what the scheduler has a worker run ------------------------------------------------------------------------------


def offer(dask_worker: Worker) -> str:
    """The units of this worker."""
    return offer_to_text(_bench(dask_worker).version, _bench(dask_worker).offered)


def run_job(text: str, model: bytes) -> tuple[str, bytes]:
    """Do a job on a unit of this worker.

    Args:
        text: a Task.
        model: the model file.

    Returns:
        The outcome, and what was on the serial line.
    """
    task = task_from_text(text)
    outcome = _bench(get_worker()).seat(task.dut).run(task, model)
    return outcome_to_text(outcome), outcome.log


def revive(text: str) -> str:
    """Switch a unit of this worker off and on; why it is still dead, or nothing."""
    revival = revival_from_text(text)
    return _bench(get_worker()).seat(revival.dut).revive(revival)


def _bench(worker: Worker) -> BenchPlugin:
    bench: BenchPlugin = worker.plugins[_PLUGIN]
    return bench


# --- the bench --------------------------------------------------------------------------------------------------------


class BenchPlugin(WorkerPlugin):  # type: ignore[misc]  # dask has no types
    """The units of this machine, as a plug-in of dask's worker.

    Args:
        duts: the units.

    Attributes:
        version: of this harness. A worker lives long: it is the one that was loaded, whatever the checkout is by now.
    """

    name = _PLUGIN

    def __init__(self, duts: Sequence[BenchDut]) -> None:
        self.version = version()
        self._duts = tuple(duts)
        self._folder = TemporaryDirectory(prefix="harness-worker-")
        self._seats = {dut.name: _Seat(dut, Path(self._folder.name)) for dut in duts}

    @property
    def offered(self) -> list[OfferedDut]:
        """The units, as others hear of them."""
        return [OfferedDut(dut.name, dut.board.id, dut.probe, dut.port, dut.power_hook) for dut in self._duts]

    def seat(self, dut: str) -> _Seat:
        """The place where a unit is worked on."""
        return self._seats[dut]

    def teardown(self, worker: Worker) -> None:
        """Give the units back."""
        for seat in self._seats.values():
            seat.close()
        self._folder.cleanup()


class _Seat:
    """One unit, and the one thread that works on it: dask's own threads change from job to job.

    Args:
        dut: the unit.
        folder: for models and corrections.
    """

    def __init__(self, dut: BenchDut, folder: Path) -> None:
        self._dut = dut
        self._folder = folder
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=dut.name)
        self._options = RunOptions()
        self._runner: DutRunner | None = None

    def run(self, task: Task, model: bytes) -> Outcome:
        return self._thread.submit(self._run, task, model).result()

    def revive(self, revival: Revival) -> str:
        return self._thread.submit(lambda: self._open(self._options).revive(revival.hook, revival.timeout_s)).result()

    def close(self) -> None:
        self._thread.submit(self._let_go)
        self._thread.shutdown()

    def _run(self, task: Task, model: bytes) -> Outcome:
        path = self._folder / hashlib.sha256(model).hexdigest() / Path(task.job.model).name
        path.parent.mkdir(exist_ok=True)
        write_if_changed(path, model)
        options = replace(task.options, corrections=self._keep_corrections(task))
        return self._open(options).run(replace(task.job, path=str(path)))

    def _keep_corrections(self, task: Task) -> Path | None:
        if not task.corrections:
            return None
        name = hashlib.sha256("\0".join(f"{k}\0{v}" for k, v in sorted(task.corrections.items())).encode()).hexdigest()
        folder = self._folder / name
        folder.mkdir(exist_ok=True)
        for file, text in task.corrections.items():
            write_if_changed(folder / Path(file).name, text.encode())
        return folder

    def _open(self, options: RunOptions) -> DutRunner:
        """The unit's session stays open from job to job, unless another sweep wants other things of it."""
        if self._runner is None or options != self._options:
            self._let_go()
            self._runner, self._options = DutRunner(self._dut, options), options
        return self._runner

    def _let_go(self) -> None:
        if self._runner:
            self._runner.close()
            self._runner = None


# --- the service ------------------------------------------------------------------------------------------------------


def serve(duts: Sequence[BenchDut], scheduler: str, name: str, host: str) -> None:
    """Offer units until the scheduler goes away, or Ctrl-C.

    Args:
        duts: the units.
        scheduler: its address, such as `tcp://127.0.0.1:8786`, or `tls://…`.
        name: of this worker; no other worker of the scheduler may have it.
        host: the address to listen at.

    Raises:
        BenchError: the scheduler cannot be reached, or has gone.
        InterruptedRunError: Ctrl-C, or SIGTERM; the units were given back.
    """
    quiet()
    try:
        asyncio.run(_serve(duts, scheduler, name, host))
    except asyncio.CancelledError:
        raise InterruptedRunError("interrupted", hint="the units were let go cleanly") from None
    except (OSError, TimeoutError, RuntimeError, ValueError) as error:
        raise BenchError(
            f"the worker cannot be started: {_first_cause(error)}",
            where=scheduler,
            hint="is a scheduler there (dask scheduler --host 127.0.0.1 --no-dashboard), and the --name not taken?",
        ) from error
    raise BenchError("the scheduler has gone", where=scheduler, hint="start it again, and then this worker")


async def _serve(duts: Sequence[BenchDut], scheduler: str, name: str, host: str) -> None:
    """The worker lives in an event loop, the only one of the process; a signal ends both."""
    serving = asyncio.current_task()
    if serving:
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, serving.cancel)
    async with Worker(
        scheduler,
        name=name,
        host=host,
        nthreads=len(duts),
        resources={resource(dut.name): 1 for dut in duts},
        plugins=(BenchPlugin(duts),),
        death_timeout=_CONNECT_S,
        memory_limit=0,
        dashboard=False,
    ) as worker:
        await worker.finished()


def _first_cause(error: BaseException) -> BaseException:
    """What dask wraps in "Worker failed to start"."""
    while error.__cause__ is not None:
        error = error.__cause__
    return error
