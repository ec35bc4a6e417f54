"""Which unit does which job next. Pure bookkeeping: it starts nothing and waits for nothing.

Jobs stay in the order of the plan, grouped by board, TFLM and model, as far as the units allow: a unit goes on with
the TFLM and the model that its flash holds, so that firmware and models are written as rarely as can be.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from harness.domain.attempt import Job
from harness.sweep.policy import Policy, blames_unit


@dataclass
class _Unit:
    """What is known of a unit: its board, the job it is at, its last one, and what has failed since a success."""

    board: str
    at: int | None = None
    last: Job | None = None
    failed_in_a_row: set[int] = field(default_factory=set)
    set_aside: str = ""


@dataclass
class _Work:
    """A job that has no verdict yet: how often it failed, and on which units."""

    job: Job
    failures: int = 0
    failed_on: set[str] = field(default_factory=set)


class Scheduler:
    """Spreads jobs over units.

    Args:
        jobs: those to be done, in the order of the plan.
        units: by name, the id of the unit's board.
        policy: retries, and when to set a unit aside.
        failures: by job number, how often it failed already.
    """

    def __init__(
        self, jobs: Sequence[Job], units: Mapping[str, str], policy: Policy, failures: Mapping[int, int] | None = None
    ) -> None:
        known = failures or {}
        self._waiting = {job.number: _Work(job, known.get(job.number, 0)) for job in jobs}
        self._running: dict[int, _Work] = {}
        self._units = {name: _Unit(board) for name, board in units.items()}
        self._policy = policy

    @property
    def running(self) -> int:
        """How many jobs are being done."""
        return len(self._running)

    @property
    def left(self) -> int:
        """How many jobs have no verdict yet."""
        return len(self._waiting) + len(self._running)

    def next_job(self, unit: str) -> Job | None:
        """The job that an idle unit is to do now; None when there is none for it, or it is set aside."""
        state = self._units[unit]
        if state.set_aside or state.at is not None:
            return None
        fitting = [work for work in self._waiting.values() if self._fits(work, unit)]
        if not fitting:
            return None
        peers = [each.last for name, each in self._units.items() if name != unit and each.last and not each.set_aside]
        work = min(fitting, key=lambda each: _cost(each, unit, state.last, peers))
        del self._waiting[work.job.number]
        self._running[work.job.number] = work
        state.at, state.last = work.job.number, work.job
        return work.job

    def ended(self, unit: str, error_class: str) -> bool:
        """A unit has ended its job.

        Args:
            unit: which.
            error_class: of the trouble on the bench; empty when the job came to a verdict about the model.

        Returns:
            Whether the job will be tried again, if a unit is left for it.
        """
        state, work = self._release(unit)
        if blames_unit(error_class):
            state.failed_in_a_row.add(work.job.number)
            work.failed_on.add(unit)
            if len(state.failed_in_a_row) >= self._policy.set_aside_after:
                self.set_aside(unit, f"{unit} was set aside after {len(state.failed_in_a_row)} jobs failed in a row")
        elif not error_class:
            state.failed_in_a_row.clear()
        work.failures += bool(error_class)
        again = bool(error_class) and work.failures <= self._policy.retries_after(error_class)
        if again:
            self._waiting[work.job.number] = work
        return again

    def lost(self, unit: str, why: str) -> None:
        """A unit went away in the middle of its job, which is still to be done."""
        if self._units[unit].at is not None:
            _, work = self._release(unit)
            self._waiting[work.job.number] = work
        self.set_aside(unit, why)

    def set_aside(self, unit: str, why: str) -> None:
        """Give a unit no more jobs."""
        self._units[unit].set_aside = self._units[unit].set_aside or why

    def reason_set_aside(self, unit: str) -> str:
        """Why a unit gets no more jobs; empty when it does."""
        return self._units[unit].set_aside

    def give_up_unserved(self) -> list[tuple[Job, str]]:
        """Drop the waiting jobs that no unit is left for; each with the reason."""
        alive = {unit.board for unit in self._units.values() if not unit.set_aside}
        dropped = [self._waiting.pop(work.job.number) for work in self._all_waiting() if work.job.board not in alive]
        return [(work.job, self._why_unserved(work.job.board)) for work in dropped]

    def give_up_all(self) -> list[Job]:
        """Drop every waiting job."""
        dropped = [work.job for work in self._all_waiting()]
        self._waiting.clear()
        return dropped

    def _fits(self, work: _Work, unit: str) -> bool:
        """Whether a unit may do a job: a unit that failed it already leaves it to its peers, as long as there are any.

        A dead unit fails at once, and would use up all tries of a job while its peers are still busy.
        """
        board = self._units[unit].board
        if work.job.board != board:
            return False
        fresh = {name for name, each in self._units.items() if each.board == board and not each.set_aside}
        return unit not in work.failed_on or fresh <= work.failed_on

    def _all_waiting(self) -> list[_Work]:
        return sorted(self._waiting.values(), key=lambda work: work.job.number)

    def _release(self, unit: str) -> tuple[_Unit, _Work]:
        state = self._units[unit]
        if state.at is None:
            raise ValueError(f"{unit} is at no job")
        work = self._running.pop(state.at)
        state.at = None
        return state, work

    def _why_unserved(self, board: str) -> str:
        reasons = [unit.set_aside for unit in self._units.values() if unit.board == board]
        return "; ".join(reasons) if reasons else f"there is no unit of {board} on the bench"


def _cost(work: _Work, unit: str, last: Job | None, peers: Sequence[Job]) -> tuple[bool, bool, bool, bool, bool, int]:
    """What speaks against giving a job to a unit, the weightiest first.

    Args:
        work: the job.
        unit: the unit's name.
        last: what that unit did before.
        peers: what the other units do, or did last.
    """
    job = work.job
    same_tflm = last is not None and job.tflm == last.tflm
    same_model = same_tflm and last is not None and job.sha256 == last.sha256
    tflm_of_a_peer = any((job.board, job.tflm) == (peer.board, peer.tflm) for peer in peers)
    model_of_a_peer = any((job.board, job.tflm, job.sha256) == (peer.board, peer.tflm, peer.sha256) for peer in peers)
    return (
        unit in work.failed_on,
        not same_tflm,
        not same_tflm and tflm_of_a_peer,
        not same_model and model_of_a_peer,
        not same_model,
        job.number,
    )
