"""What people see on stderr while a sweep runs: a live table on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.domain.attempt import Job
from harness.errors import printable
from harness.sweep.dut_runner import Outcome

if TYPE_CHECKING:
    from rich.console import Group

_REFRESHES_PER_SECOND = 4


@dataclass
class _Unit:
    """How a unit is doing."""

    at: str = ""
    since_s: float = 0.0
    ended: int = 0
    failed: int = 0


class SweepProgress:
    """Counts what happens, and says each ended attempt in one line.

    Args:
        duts: the units' names.
        jobs: how many jobs there are to do.
    """

    def __init__(self, duts: Sequence[str], jobs: int) -> None:
        self._units = {name: _Unit() for name in duts}
        self._jobs = jobs
        self._done = self._failed = 0
        self._started_s = time.monotonic()

    def began(self, dut: str, job: Job) -> None:
        """See `Observer.began`."""
        unit = self._units[dut]
        unit.at, unit.since_s = f"{job.model} [{job.tflm}{_arena(job)}]", time.monotonic()

    def ended(self, dut: str, job: Job, outcome: Outcome, again: bool) -> None:
        """See `Observer.ended`."""
        unit, verdict = self._units[dut], outcome.result.verdict
        unit.at = ""
        unit.ended += 1
        unit.failed += verdict == "error"
        self._done += not again
        self._failed += verdict == "error"
        cause = f": {outcome.result.causes[0]}" if verdict in ("error", "fail", "not_run") else ""
        retry = "; to be tried again" if again else ""
        self.note(f"[{self._done}/{self._jobs}] {dut}: {job.model}{_arena(job)}: {verdict}{cause}{retry}")

    def note(self, text: str) -> None:
        """See `Observer.note`."""
        sys.stderr.write(printable(text) + "\n")
        sys.stderr.flush()

    def picture(self) -> Group:
        """The state of the sweep and of all units, for a terminal."""
        from rich.console import Group
        from rich.table import Table
        from rich.text import Text

        table = Table()
        for column in ("unit", "at", "for", "done", "failed"):
            table.add_column(column, justify="left" if column in ("unit", "at") else "right")
        for name, unit in self._units.items():
            seconds = f"{time.monotonic() - unit.since_s:.0f} s" if unit.at else ""
            cells = (name, unit.at or "idle", seconds, str(unit.ended), str(unit.failed))
            table.add_row(*(Text(printable(cell)) for cell in cells))
        return Group(Text(self._headline()), table)

    def _headline(self) -> str:
        left = self._jobs - self._done
        return (
            f"{self._done} of {self._jobs} done, {self._failed} failed attempts, {left} left, {self._remaining(left)}"
        )

    def _remaining(self, left: int) -> str:
        if not self._done:
            return "time left unknown"
        seconds = (time.monotonic() - self._started_s) / self._done * left
        return f"about {seconds / 60:.0f} min left" if seconds >= 120 else f"about {seconds:.0f} s left"


@contextmanager
def shown(duts: Sequence[str], jobs: int) -> Iterator[SweepProgress]:
    """Show a sweep's progress for as long as the context lasts."""
    progress = SweepProgress(duts, jobs)
    if not sys.stderr.isatty():
        yield progress
        return
    from rich.console import Console
    from rich.live import Live

    # What is written to stderr meanwhile goes above the table.
    with Live(
        get_renderable=progress.picture,
        console=Console(stderr=True),
        refresh_per_second=_REFRESHES_PER_SECOND,
        transient=True,
        redirect_stderr=True,
        redirect_stdout=False,
    ):
        yield progress


def _arena(job: Job) -> str:
    return "" if job.arena_size_bytes is None else f" in {job.arena_size_bytes:,} bytes"
