"""The units of a sweep, all at work at the same time: who is told to do what, and what they report."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from harness.bench.file import BenchDut
from harness.domain.attempt import Job
from harness.sweep.dut_runner import DutRunner, Outcome

_CLOSE_S = 15.0
"""How long all units together may take to be given back at the end."""


@dataclass(frozen=True)
class Ended:
    """A unit has ended its job."""

    dut: str
    outcome: Outcome


@dataclass(frozen=True)
class Revived:
    """A unit's power was switched; `complaint` says why it is still dead, and is empty when it answers."""

    dut: str
    complaint: str


@dataclass(frozen=True)
class Lost:
    """A unit went away, together with whoever worked on it."""

    dut: str
    why: str


@dataclass(frozen=True)
class Crashed:
    """A mistake in harness itself."""

    dut: str
    error: BaseException


Report = Ended | Revived | Lost | Crashed


class Crew(Protocol):
    """Units that work side by side, each at one thing at a time."""

    @property
    def duts(self) -> Sequence[BenchDut]:
        """Who they are."""

    def begin(self, dut: str, job: Job) -> None:
        """Have a unit do a job; an `Ended` or `Lost` will follow."""

    def revive(self, dut: str, hook: tuple[str, ...], timeout_s: float) -> None:
        """Have a unit's power switched; a `Revived` or `Lost` will follow."""

    def report(self, timeout_s: float | None) -> Report | None:
        """The next thing that a unit has to say; None when nothing came in time."""

    def close(self) -> None:
        """Give all units back."""


class ThreadCrew:
    """Units of this machine, each with a thread and a session of its own.

    Args:
        duts: the units.
        runner: makes what does the work of a unit.
    """

    def __init__(self, duts: Sequence[BenchDut], runner: Callable[[BenchDut], DutRunner]) -> None:
        self._duts = tuple(duts)
        self._reports: queue.Queue[Report] = queue.Queue()
        self._threads = {dut.name: _DutThread(dut, runner, self._reports) for dut in duts}
        for thread in self._threads.values():
            thread.start()

    @property
    def duts(self) -> Sequence[BenchDut]:
        """The units."""
        return self._duts

    def begin(self, dut: str, job: Job) -> None:
        """Have a unit do a job."""
        self._threads[dut].tasks.put(lambda runner: Ended(dut, runner.run(job)))

    def revive(self, dut: str, hook: tuple[str, ...], timeout_s: float) -> None:
        """Have a unit's power switched."""
        self._threads[dut].tasks.put(lambda runner: Revived(dut, runner.revive(hook, timeout_s)))

    def report(self, timeout_s: float | None) -> Report | None:
        """The next thing that a unit has to say."""
        try:
            return self._reports.get(timeout=timeout_s)
        except queue.Empty:
            return None

    def close(self) -> None:
        """Give all units back; one that does not let go in time ends with this program."""
        for thread in self._threads.values():
            thread.tasks.put(None)
        deadline_s = time.monotonic() + _CLOSE_S
        for thread in self._threads.values():
            thread.join(max(0.0, deadline_s - time.monotonic()))


class _DutThread(threading.Thread):
    """Does the tasks of one unit. A daemon: a unit that hangs must not keep the program from ending."""

    def __init__(self, dut: BenchDut, runner: Callable[[BenchDut], DutRunner], reports: queue.Queue[Report]) -> None:
        super().__init__(name=dut.name, daemon=True)
        self.tasks: queue.Queue[Callable[[DutRunner], Report] | None] = queue.Queue()
        self._dut = dut
        self._runner = runner
        self._reports = reports

    def run(self) -> None:
        runner = self._runner(self._dut)
        try:
            while (task := self.tasks.get()) is not None:
                self._reports.put(task(runner))
        except BaseException as error:  # noqa: BLE001 - a mistake here must end the sweep, not this thread alone
            self._reports.put(Crashed(self._dut.name, error))
        finally:
            runner.close()
