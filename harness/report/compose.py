"""Composition of a report: its parts put together, and what it leaves out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from harness.domain.plan import MemoryPlan
from harness.report.facts import Heading, History, Report, ReportedAttempt
from harness.report.health import unit_health
from harness.report.history import histories

# The worst first: when there are too many rows, these stay.
_SEVERITY = ("under", "fail", "over", "error", "not_run", "ok")


@dataclass(frozen=True)
class ReportLimits:
    """How much a page can hold before it gets too large to open.

    Attributes:
        rows: of the reconciliation table.
        recorded: jobs whose recorded sections are shown.
        histories: that are drawn.
        levels, changes: of one history, the latest.
        units: DUTs.
        plans: memory timelines.
        bars: of one timeline, the largest.
        drawn: bars and steps of all timelines together.
    """

    rows: int = 3000
    recorded: int = 300
    histories: int = 150
    levels: int = 200
    changes: int = 20
    units: int = 200
    plans: int = 60
    bars: int = 600
    drawn: int = 30_000


@dataclass(frozen=True)
class Material:
    """What a report is made from.

    Attributes:
        jobs: the last outcome of every job that the report is about.
        past: every outcome there is, in the order in which they were made.
        plans: memory plans of the models.
        unplanned: how many more plans there could be.
    """

    jobs: Sequence[ReportedAttempt]
    past: Sequence[ReportedAttempt]
    plans: Sequence[MemoryPlan] = ()
    unplanned: int = 0


def compose(heading: Heading, material: Material, limits: ReportLimits | None = None) -> Report:
    """Put a report together, and say in it what is left out."""
    limits = limits or ReportLimits()
    jobs, past, plans = material.jobs, material.past, material.plans
    traced = histories(past)
    changing = [history for history in traced if history.changes]
    units = unit_health(past)
    recorded = _recorded(jobs)
    report = Report(
        heading=heading,
        rows=_worst(jobs, limits.rows),
        recorded=tuple(recorded[: limits.recorded]),
        counts=Counter(job.verdict for job in jobs),
        histories=tuple(_latest(history, limits) for history in changing[: limits.histories]),
        steady=len(traced) - len(changing),
        units=tuple(units[: limits.units]),
        plans=tuple(_drawable(plans, limits)),
        left_out=(),
    )
    return replace(report, left_out=tuple(_left_out(report, material, changing, (len(recorded), len(units)))))


def _worst(jobs: Sequence[ReportedAttempt], limit: int) -> tuple[ReportedAttempt, ...]:
    """All of them in their order, or the worst."""
    if len(jobs) <= limit:
        return tuple(jobs)
    return tuple(sorted(jobs, key=lambda job: _SEVERITY.index(job.verdict))[:limit])


def _recorded(jobs: Sequence[ReportedAttempt]) -> list[ReportedAttempt]:
    """The jobs whose sections are known; those that differ from their estimates first."""
    known = [job for job in jobs if job.sections]
    return sorted(known, key=lambda job: not any(section.error_bytes for section in job.sections))


def _latest(history: History, limits: ReportLimits) -> History:
    return replace(history, levels=history.levels[-limits.levels :], changes=history.changes[-limits.changes :])


def _drawable(plans: Sequence[MemoryPlan], limits: ReportLimits) -> Iterator[MemoryPlan]:
    drawn = 0
    for plan in plans[: limits.plans]:
        kept = _largest_bars(plan, limits.bars)
        drawn += len(kept.timeline) + len(kept.steps)
        if drawn > limits.drawn:
            return
        yield kept


def _largest_bars(plan: MemoryPlan, limit: int) -> MemoryPlan:
    if len(plan.timeline) <= limit:
        return plan
    smallest_first = sorted(range(len(plan.timeline)), key=lambda number: plan.timeline[number].size_bytes)
    kept = sorted(smallest_first[-limit:])
    return replace(plan, timeline=tuple(plan.timeline[number] for number in kept))


def _left_out(
    report: Report, material: Material, changing: Sequence[History], totals: tuple[int, int]
) -> Iterator[str]:
    recorded, units = totals
    shown = (
        (len(report.rows), len(material.jobs), "jobs are in the table, the worst verdicts first"),
        (len(report.recorded), recorded, "jobs have their recorded allocations shown, those that differ first"),
        (len(report.histories), len(changing), "histories with changes are shown, those with regressions first"),
        (len(report.units), units, "DUTs are shown, the sickest first"),
        (len(report.plans), len(material.plans) + material.unplanned, "memory timelines are drawn"),
    )
    for some, all_, what in shown:
        if some < all_:
            yield f"{some:,} of {all_:,} {what}."
    if any(len(kept.changes) < len(whole.changes) for kept, whole in zip(report.histories, changing, strict=False)):
        yield "Long histories list their latest changes only."
    for kept, plan in zip(report.plans, material.plans, strict=False):
        if len(kept.timeline) < len(plan.timeline):
            yield f"The timeline of {plan.model} has its {len(kept.timeline):,} largest of {len(plan.timeline):,} bars."
