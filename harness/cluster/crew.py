"""The machine with the sweep: units on other machines as a crew."""

from __future__ import annotations

import queue
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from dataclasses import dataclass

from distributed import Client, Future, KilledWorker
from distributed.comm import CommClosedError

from harness.bench.file import BenchDut
from harness.cluster import quiet, worker
from harness.cluster.messages import (
    Revival,
    Task,
    offer_from_text,
    outcome_from_text,
    read_corrections,
    revival_to_text,
    task_to_text,
)
from harness.domain.attempt import Circumstances, Job
from harness.domain.board import Board
from harness.domain.reconciliation import RowSubject
from harness.errors import BenchError, HarnessError
from harness.files.version import version
from harness.results.reconcile import without_measurement
from harness.session import RunOptions
from harness.sweep.crew import Crashed, Ended, Lost, Report, Revived
from harness.sweep.dut_runner import Outcome, read_unchanged

_CONNECT_S = 15
_LOOK_S = 0.5
"""How often to look whether workers are still there."""


@dataclass(frozen=True)
class RemoteDut:
    """A unit on another machine.

    Attributes:
        dut: the unit, its name preceded by its worker's.
        name: its name on its own bench.
        address: its worker's.
    """

    dut: BenchDut
    name: str
    address: str


@dataclass(frozen=True)
class _InHand:
    """What a unit is at, and how to read what it will say."""

    future: Future
    read: Callable[[Future], Report]


@contextmanager
def cluster_crew(address: str, boards: Sequence[Board], options: RunOptions) -> Iterator[ClusterCrew]:
    """The units that the workers of a scheduler offer, as a crew.

    Args:
        address: the scheduler's, such as `127.0.0.1:8786` or `tls://lab.example:8786`. For TLS, dask's own settings
            count (`distributed.comm.tls`, also as environment variables).
        boards: those that the sweep is about; units of others are left alone.
        options: what all jobs have in common.

    Raises:
        BenchError: no scheduler, no worker, or workers with another version of harness.
    """
    quiet()
    try:
        client = Client(address, timeout=_CONNECT_S, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        raise BenchError(
            f"the scheduler cannot be reached: {error}",
            where=address,
            hint="start one with: dask scheduler --host 127.0.0.1 --no-dashboard",
        ) from error
    try:
        yield ClusterCrew(client, offered_duts(client, boards), options)
    finally:
        client.close()


def offered_duts(client: Client, boards: Sequence[Board]) -> list[RemoteDut]:
    """The units of all workers.

    Raises:
        BenchError: there is none, or a worker has another version of harness.
    """
    by_id = {board.id: board for board in boards}
    names = {address: str(info["name"]) for address, info in client.scheduler_info()["workers"].items()}
    found = []
    for address, text in client.run(worker.offer).items():
        theirs, offered = offer_from_text(text, f"worker {names.get(address, address)}")
        if theirs != version():
            raise BenchError(
                "a worker has another version of harness",
                where=names.get(address, address),
                measured=theirs,
                expected=version(),
                hint="bring all machines to one version; in a checkout, its commit counts",
            )
        found += [
            RemoteDut(
                BenchDut(f"{names[address]}/{dut.name}", by_id[dut.board], dut.probe, dut.port, dut.power_hook),
                dut.name,
                address,
            )
            for dut in offered
            if dut.board in by_id
        ]
    if not found:
        raise BenchError(
            "no worker offers a unit of these boards",
            where=client.scheduler.address,
            measured=f"{len(names)} workers",
            hint="on a machine with units: harness worker --bench bench.toml SCHEDULER",
        )
    return sorted(found, key=lambda remote: remote.dut.name)


class ClusterCrew:
    """Units on other machines, each at one job at a time; a lost worker's units are reported as lost.

    Args:
        client: connection to the scheduler.
        duts: the units.
        options: what all jobs have in common.
    """

    def __init__(self, client: Client, duts: Sequence[RemoteDut], options: RunOptions) -> None:
        self._client = client
        self._remote = {remote.dut.name: remote for remote in duts}
        self._options = options
        self._corrections = read_corrections(options.corrections)
        self._in_hand: dict[str, _InHand] = {}
        self._lost: set[str] = set()
        self._ready: queue.Queue[tuple[str, Future] | Report] = queue.Queue()

    @property
    def duts(self) -> Sequence[BenchDut]:
        """The units."""
        return [remote.dut for remote in self._remote.values()]

    def begin(self, dut: str, job: Job) -> None:
        """Have a unit do a job; the model goes with it."""
        try:
            model = read_unchanged(job)
        except HarnessError as error:
            result = without_measurement(RowSubject(job.model, job.sha256, job.board, job.tflm_name), None, error)
            self._ready.put(Ended(dut, Outcome(result, Circumstances())))
            return
        task = Task(self._remote[dut].name, job, self._options, self._corrections)

        def read(future: Future) -> Report:
            text, log = future.result()
            return Ended(dut, outcome_from_text(text, log, dut))

        self._submit(dut, read, worker.run_job, task_to_text(task), model.data)

    def revive(self, dut: str, hook: tuple[str, ...], timeout_s: float) -> None:
        """Have a unit's power switched by its own machine."""
        revival = Revival(self._remote[dut].name, hook, timeout_s)
        self._submit(dut, lambda future: Revived(dut, future.result()), worker.revive, revival_to_text(revival))

    def report(self, timeout_s: float | None) -> Report | None:
        """The next thing that a unit has to say, or that a worker is gone."""
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        while True:
            left_s = _LOOK_S if deadline is None else max(0.0, deadline - time.monotonic())
            report = self._next(min(_LOOK_S, left_s)) or self._loss()
            if report or (deadline is not None and time.monotonic() >= deadline):
                return report

    def close(self) -> None:
        """Want nothing more of the units; a job that has begun ends on its own."""
        for each in self._in_hand.values():
            each.future.cancel()
        self._in_hand.clear()

    def _submit(
        self, dut: str, read: Callable[[Future], Report], function: Callable[..., object], *data: object
    ) -> None:
        remote = self._remote[dut]
        future = self._client.submit(
            function,
            *data,
            workers=[remote.address],
            resources={worker.resource(remote.name): 1},
            allow_other_workers=False,
            pure=False,  # the same job twice is two attempts
            retries=0,
        )
        self._in_hand[dut] = _InHand(future, read)
        future.add_done_callback(lambda done: self._ready.put((dut, done)))

    def _next(self, timeout_s: float) -> Report | None:
        try:
            entry = self._ready.get(timeout=timeout_s)
        except queue.Empty:
            return None
        if not isinstance(entry, tuple):
            return entry
        dut, future = entry
        held = self._in_hand.get(dut)
        if held is None or held.future is not future:
            return None  # of a unit that was given up meanwhile
        return self._read(dut, self._in_hand.pop(dut))

    def _read(self, dut: str, held: _InHand) -> Report:
        try:
            return held.read(held.future)
        except (KilledWorker, CancelledError, CommClosedError, TimeoutError):
            return self._lose(dut)
        except Exception as error:  # noqa: BLE001 - whatever a worker raises ends the sweep, told as one sentence
            trouble = BenchError(f"the worker made a mistake: {type(error).__name__}: {error}", where=dut)
            return Crashed(dut, trouble)

    def _loss(self) -> Report | None:
        """One of the units whose worker is gone, if that is new."""
        alive = self._workers() or set()
        gone = (dut for dut, remote in self._remote.items() if remote.address not in alive and dut not in self._lost)
        dut = next(gone, None)
        return None if dut is None else self._lose(dut)

    def _lose(self, dut: str) -> Lost:
        """Its job must not be done when its worker comes back: another unit will have done it."""
        self._lost.add(dut)
        held = self._in_hand.pop(dut, None)
        if held:
            held.future.cancel()
        gone = "the scheduler is gone" if self._workers() is None else "its worker is gone"
        return Lost(dut, f"{dut} was lost: {gone}")

    def _workers(self) -> set[str] | None:
        """Addresses of the workers that the scheduler knows; None when it is gone itself."""
        try:
            return set(self._client.scheduler_info()["workers"])
        except (OSError, TimeoutError):
            return None
