"""What a report says, as frozen data: the page and the Markdown are two forms of the same facts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from harness.domain.plan import MemoryPlan
from harness.domain.reconciliation import RecordedSection

DEVICE_VERDICTS = frozenset({"ok", "over", "under", "fail"})
"""Verdicts that say something about the model; the others say something about the bench."""


@dataclass(frozen=True, slots=True)
class ReportedAttempt:
    """One attempt at a job, as much of it as a report shows.

    Attributes:
        model, sha256, board, tflm: as in Reconciliation.
        dut: the unit it ran on; empty where that is not known.
        verdict: one of domain.reconciliation.VERDICTS.
        when: start, ISO 8601; empty where that is not known.
        arena_size_bytes, estimate_bytes, used_bytes, painted_bytes, minimum_bytes: None where there is none.
        error_bytes, error_percent: estimate minus measurement.
        causes: sentences.
        sections: what TFLM recorded beside the estimate; empty where it does not record.
        flaky: whether it passed after an attempt that had failed.
        key: what else the result depends on, such as the firmware's build id: name → value.
    """

    model: str
    sha256: str
    board: str
    tflm: str
    dut: str
    verdict: str
    when: str = ""
    arena_size_bytes: int | None = None
    estimate_bytes: int | None = None
    used_bytes: int | None = None
    painted_bytes: int | None = None
    minimum_bytes: int | None = None
    error_bytes: int | None = None
    error_percent: float | None = None
    causes: tuple[str, ...] = ()
    sections: tuple[RecordedSection, ...] = ()
    flaky: bool = False
    key: Mapping[str, str] = field(default_factory=dict)

    @property
    def series(self) -> tuple[str, str, str]:
        """Attempts with the same one are compared over time: model name, board, TFLM."""
        return (self.model, self.board, self.tflm)


@dataclass(frozen=True)
class Change:
    """A place in a history where the result is not what it was before.

    Attributes:
        number: of the attempt in its history, from 0.
        before, after: the attempts on both sides.
        kind: `grew`, `shrank`, `worse` (a verdict that was ok no longer is) or `better`.
        key: names of the parts of the key that changed at the same time.
    """

    number: int
    before: ReportedAttempt
    after: ReportedAttempt
    kind: str
    key: tuple[str, ...]

    @property
    def is_regression(self) -> bool:
        """Whether somebody should look at it."""
        return self.kind in ("grew", "worse")


@dataclass(frozen=True)
class History:
    """One model on one kind of board with one TFLM, over time.

    Attributes:
        model, board, tflm: which.
        length: attempts that the device had its say in.
        first, last: the first and the last of them.
        levels: (number of the attempt, measured bytes), only where the bytes are others than before.
        changes: in order.
    """

    model: str
    board: str
    tflm: str
    length: int
    first: ReportedAttempt
    last: ReportedAttempt
    levels: tuple[tuple[int, int], ...]
    changes: tuple[Change, ...]

    @property
    def regressions(self) -> int:
        """How many changes somebody should look at."""
        return sum(change.is_regression for change in self.changes)


@dataclass(frozen=True)
class UnitHealth:
    """How one DUT has been doing.

    Attributes:
        dut, board: which unit.
        attempts: how many there were.
        counts: verdict → attempts.
        flaky: attempts that passed after one that had failed.
        recent: verdicts of the latest attempts, oldest first.
        last_seen: start of the latest attempt.
        trouble: what the latest attempt that ended in `error` said; empty when none did.
        trouble_seen: when that was.
    """

    dut: str
    board: str
    attempts: int
    counts: Mapping[str, int]
    flaky: int
    recent: tuple[str, ...]
    last_seen: str
    trouble: str
    trouble_seen: str

    @property
    def error_percent(self) -> float:
        """The share of attempts that the bench spoilt."""
        return 100.0 * self.counts.get("error", 0) / self.attempts


@dataclass(frozen=True)
class Heading:
    """What a report is about.

    Attributes:
        source: where its data come from: a database and sweep, or files.
        made: when it was written, ISO 8601.
        version: of harness.
    """

    source: str
    made: str
    version: str


@dataclass(frozen=True)
class Report:
    """Everything that a report says.

    Attributes:
        heading: what it is about.
        rows: the reconciliation table: the last attempt at every job.
        recorded: those of them whose sections are known, the ones that differ from their estimates first.
        counts: verdict → jobs.
        histories: those with regressions first; a single attempt has no history.
        steady: histories that are left out because nothing ever changed in them.
        units: the DUTs, the sickest first.
        plans: memory plans, for the timelines.
        left_out: in sentences, what there is more of than a report can hold.
    """

    heading: Heading
    rows: tuple[ReportedAttempt, ...]
    recorded: tuple[ReportedAttempt, ...]
    counts: Mapping[str, int]
    histories: tuple[History, ...]
    steady: int
    units: tuple[UnitHealth, ...]
    plans: tuple[MemoryPlan, ...]
    left_out: tuple[str, ...]

    @property
    def regressions(self) -> int:
        """Over all histories."""
        return sum(history.regressions for history in self.histories)
