"""Runner of a sweep: hands jobs to units, writes down each attempt, deals with trouble as the policy says."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Protocol

from harness.bench.file import BenchDut
from harness.domain.attempt import DONE, Job, JobResult
from harness.errors import InterruptedRunError
from harness.store import Store
from harness.sweep.crew import Crashed, Crew, Ended, Lost, Report, Revived
from harness.sweep.dut_runner import Outcome
from harness.sweep.policy import Policy, blames_unit
from harness.sweep.scheduler import Scheduler

_DEADLINE_GRACE_S = 120.0
"""How long jobs in hand may go on after the deadline."""


class Observer(Protocol):
    """Told what happens while a sweep runs."""

    def began(self, dut: str, job: Job) -> None:
        """A unit begins a job."""

    def ended(self, dut: str, job: Job, outcome: Outcome, again: bool) -> None:
        """It has ended it; `again` says whether the job is to be tried once more."""

    def note(self, text: str) -> None:
        """Something else that people want to know."""


def run_sweep(store: Store, sweep: int, crew: Crew, policy: Policy, observer: Observer) -> None:
    """Do what is left to do of a sweep.

    Args:
        store: where the sweep's jobs are, and where the attempts go.
        sweep: its id.
        crew: the units.
        policy: what to do about trouble.
        observer: told what happens.

    Raises:
        InterruptedRunError: Ctrl-C; what was in hand was ended first, or cut off by a second one.
        StorageError: the store cannot be written.
    """
    _Run(store, sweep, crew, policy, observer).run()


def unfinished(results: Sequence[JobResult], policy: Policy) -> list[JobResult]:
    """The jobs of a sweep that still need a verdict: no attempt led to one, and the policy allows another."""
    return [each for each in results if not _settled(each, policy)]


def _settled(result: JobResult, policy: Policy) -> bool:
    if result.job.sha256 == "":
        return True  # there is no model to try
    attempt = result.attempt
    if attempt is None:
        return False
    return attempt.state == DONE or result.failures > policy.retries_after(attempt.error_class)


class _Run:
    def __init__(self, store: Store, sweep: int, crew: Crew, policy: Policy, observer: Observer) -> None:
        self._store = store
        self._sweep = sweep
        self._crew = crew
        self._policy = policy
        self._observer = observer
        self._deadline_s = None if policy.deadline_s is None else time.monotonic() + policy.deadline_s
        todo = unfinished(store.job_results(sweep), policy)
        self._duts = {dut.name: dut for dut in crew.duts}
        self._scheduler = Scheduler(
            [each.job for each in todo],
            {dut.name: dut.board.id for dut in crew.duts},
            policy,
            {each.job.number: each.failures for each in todo},
        )
        self._idle = list(self._duts)
        self._in_hand: dict[str, tuple[int, Job]] = {}
        self._busy_reviving: set[str] = set()
        self._stopping = ""

    def run(self) -> None:
        try:
            self._work()
        except KeyboardInterrupt:
            self._interrupt()
        except BaseException:
            self._store.interrupt_running(self._sweep)
            raise
        self._store.end_sweep(self._sweep)

    def _work(self) -> None:
        """Go on until every job has its verdict, or no unit is left for it."""
        self._hand_out()
        while self._in_hand or self._busy_reviving:
            report = self._crew.report(self._patience_s())
            if report is not None:
                self._take(report)
            self._heed_deadline()
            self._hand_out()

    def _interrupt(self) -> None:
        """After Ctrl-C: end what is in hand, unless there is a second one."""
        self._observer.note("interrupted: the jobs in hand are ended first; Ctrl-C again leaves them")
        self._stopping = "interrupted"
        try:
            while self._in_hand:
                report = self._crew.report(None)
                if report is not None:
                    self._take(report)
        except KeyboardInterrupt:
            self._observer.note("interrupted again: the jobs in hand are cut off")
        self._store.interrupt_running(self._sweep)
        raise InterruptedRunError(
            "the sweep was interrupted",
            measured=f"{self._scheduler.left} jobs left",
            hint=f"go on with: harness sweep --resume {self._sweep}",
        )

    def _hand_out(self) -> None:
        if self._stopping:
            return
        for dut in list(self._idle):
            job = self._scheduler.next_job(dut)
            if job is not None:
                self._idle.remove(dut)
                self._in_hand[dut] = (self._store.begin_attempt(self._sweep, job, dut), job)
                self._observer.began(dut, job)
                self._crew.begin(dut, job)
        for job, why in self._scheduler.give_up_unserved():
            self._store.give_up_job(self._sweep, job.number, [why])

    def _take(self, report: Report) -> None:
        match report:
            case Ended():
                self._take_outcome(report.dut, report.outcome)
            case Revived():
                self._take_revival(report)
            case Lost():
                self._take_loss(report)
            case Crashed():
                raise report.error

    def _take_outcome(self, dut: str, outcome: Outcome) -> None:
        attempt, job = self._in_hand.pop(dut)
        self._store.end_attempt(attempt, outcome.result, outcome.circumstances, outcome.log)
        error_class = outcome.result.error_class if outcome.result.verdict == "error" else ""
        again = self._scheduler.ended(dut, error_class)
        self._observer.ended(dut, job, outcome, again)
        hook = self._duts[dut].power_hook or self._policy.power_hook
        if hook and blames_unit(error_class) and not self._stopping:
            self._observer.note(f"{dut}: power off and on")
            self._busy_reviving.add(dut)
            self._crew.revive(dut, hook, self._policy.power_hook_timeout_s)
            return
        self._tell_set_aside(dut)
        self._idle.append(dut)

    def _take_revival(self, report: Revived) -> None:
        self._busy_reviving.discard(report.dut)
        if report.complaint:
            self._scheduler.set_aside(report.dut, f"{report.dut} does not answer after power off and on")
            self._observer.note(f"{report.dut}: still no answer: {report.complaint}")
        self._tell_set_aside(report.dut)
        self._idle.append(report.dut)

    def _take_loss(self, report: Lost) -> None:
        if report.dut in self._in_hand:
            attempt, _ = self._in_hand.pop(report.dut)
            self._store.interrupt_attempt(attempt)
        self._busy_reviving.discard(report.dut)
        self._scheduler.lost(report.dut, report.why)
        self._tell_set_aside(report.dut)

    def _tell_set_aside(self, dut: str) -> None:
        why = self._scheduler.reason_set_aside(dut)
        if why:
            self._observer.note(why)

    def _patience_s(self) -> float | None:
        """How long to wait for a report: until the deadline, and then for as long as the grace lasts."""
        if self._deadline_s is None:
            return None
        left_s = self._deadline_s - time.monotonic()
        return max(0.0, left_s if left_s > 0 else left_s + _DEADLINE_GRACE_S)

    def _heed_deadline(self) -> None:
        if self._deadline_s is None or time.monotonic() < self._deadline_s:
            return
        self._stopping = "the sweep's deadline came first"
        dropped = self._scheduler.give_up_all()
        for job in dropped:
            self._store.give_up_job(self._sweep, job.number, [self._stopping])
        if dropped:
            self._observer.note(f"the deadline has come: {len(dropped)} jobs are not tried any more")
        if time.monotonic() > self._deadline_s + _DEADLINE_GRACE_S:
            self._cut_off()

    def _cut_off(self) -> None:
        """Leave jobs that do not end in their grace after the deadline."""
        self._store.interrupt_running(self._sweep)
        for dut, (_, job) in self._in_hand.items():
            self._store.give_up_job(self._sweep, job.number, [f"{dut} did not end it by the sweep's deadline"])
        self._in_hand.clear()
        self._busy_reviving.clear()


def describe(dut: BenchDut) -> str:
    """A unit for people: name, board, probe and port."""
    parts = [dut.board.id, dut.probe and f"probe {dut.probe}", dut.port and f"port {dut.port}"]
    return f"{dut.name} ({', '.join(part for part in parts if part)})"
