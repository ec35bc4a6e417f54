"""The report as Markdown, for a comment in continuous integration: the same facts, shorter."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from harness.domain.plan import MemoryPlan
from harness.domain.reconciliation import RecordedSection
from harness.report.facts import Change, Report, ReportedAttempt, UnitHealth
from harness.report.text import VERDICT_WORDS, buffer_name, counted, grouped, moment, percent, shown, signed

ROW_LIMIT: Final = 120
"""Rows of one table; a comment on GitHub holds 65,536 characters."""

_CAUSE_LIMIT = 160
# What Markdown would take for markup; a name may hold any of it.
_MARKUP = str.maketrans(
    {character: f"\\{character}" for character in "\\`*_{}[]()#+!|~$"}
    | {"<": "&lt;", ">": "&gt;", "&": "&amp;", "@": "&#64;"}
)


def render(report: Report) -> str:
    """The Markdown."""
    sections = (
        _summary(report),
        _rows(report),
        _recorded(report),
        _history(report),
        _units(report),
        _plans(report.plans),
        _left_out(report),
    )
    return "\n".join(line for section in sections for line in section)


def _text(value: str, limit: int = _CAUSE_LIMIT) -> str:
    return shown(value, limit).translate(_MARKUP)


def _summary(report: Report) -> Iterator[str]:
    yield "## Arena report"
    yield ""
    counts = [f"{report.counts[verdict]:,} {word}" for verdict, word in VERDICT_WORDS.items() if report.counts[verdict]]
    regressions = f"; **{counted(report.regressions, 'regression')}** in the history" if report.regressions else ""
    yield f"{counted(sum(report.counts.values()), 'job')}: {', '.join(counts) or 'nothing was run'}{regressions}."
    yield ""
    yield f"{_text(report.heading.source)}; written {report.heading.made} by harness {report.heading.version}."
    yield ""


def _rows(report: Report) -> Iterator[str]:
    yield from _table([_row(row) for row in report.rows[:ROW_LIMIT]])
    if len(report.rows) > ROW_LIMIT:
        yield f"… and {len(report.rows) - ROW_LIMIT:,} more rows in the page.\n"


def _row(row: ReportedAttempt) -> dict[str, str]:
    return {
        "model": _text(row.model),
        "board": _text(row.board),
        "tflm": _text(row.tflm),
        "verdict": VERDICT_WORDS[row.verdict] + (" (flaky)" if row.flaky else ""),
        "estimate": grouped(row.estimate_bytes),
        "measured": grouped(row.used_bytes),
        "error": signed(row.error_bytes),
        "error %": percent(row.error_percent),
        "minimum": grouped(row.minimum_bytes),
        "why": "" if row.verdict == "ok" else _text("; ".join(row.causes)),
    }


def _recorded(report: Report) -> Iterator[str]:
    rows = [(job, section) for job in report.recorded for section in job.sections]
    if rows:
        yield "### Recorded allocations\n"
        yield from _table([_section(*row) for row in rows[:ROW_LIMIT]])


def _section(job: ReportedAttempt, section: RecordedSection) -> dict[str, str]:
    return {
        "model": _text(job.model),
        "board": _text(job.board),
        "section": _text(section.name),
        "estimate": grouped(section.estimate_bytes),
        "recorded": grouped(section.measured_bytes),
        "error": signed(section.error_bytes),
    }


def _history(report: Report) -> Iterator[str]:
    changes = [change for history in report.histories for change in history.changes]
    if changes:
        yield "### Changes\n"
        yield from _table([_change(change) for change in changes[:ROW_LIMIT]])


def _change(change: Change) -> dict[str, str]:
    before, after = change.before, change.after
    by_size = change.kind in ("grew", "shrank")
    return {
        "change": f"**{change.kind}**" if change.is_regression else change.kind,
        "model": _text(after.model),
        "board": _text(after.board),
        "when": moment(_text(after.when)),
        "before": grouped(before.used_bytes) if by_size else VERDICT_WORDS[before.verdict],
        "after": grouped(after.used_bytes) if by_size else VERDICT_WORDS[after.verdict],
        "with another": _text(", ".join(change.key)),
    }


def _units(report: Report) -> Iterator[str]:
    if report.units:
        yield "### DUTs\n"
        yield from _table([_unit(unit) for unit in report.units[:ROW_LIMIT]])


def _unit(unit: UnitHealth) -> dict[str, str]:
    return {
        "DUT": _text(unit.dut),
        "board": _text(unit.board),
        "attempts": grouped(unit.attempts),
        "bench errors": grouped(unit.counts.get("error", 0)),
        "flaky": grouped(unit.flaky),
        "last seen": moment(_text(unit.last_seen)),
        "latest trouble": _text(unit.trouble),
    }


def _plans(plans: Sequence[MemoryPlan]) -> Iterator[str]:
    if plans:
        yield "### Memory plans\n"
        yield from _table([_plan(plan) for plan in plans[:ROW_LIMIT]])


def _plan(plan: MemoryPlan) -> dict[str, str]:
    best = min(plan.planners, key=lambda planner: planner.arena_bytes)
    return {
        "model": _text(plan.model),
        "tflm": _text(plan.tflm),
        "head": grouped(plan.head_bytes),
        "lower bound": grouped(plan.lower_bound_bytes),
        "best planner": f"{_text(best.planner)} ({best.arena_bytes:,})",
        "peak operator": _text(plan.peak.operator or ""),
        "fragmentation": f"{plan.peak.fragmentation_percent} %",
        "long-lived tensors": _text(", ".join(buffer_name(bar) for bar in plan.long_lived)),
    }


def _left_out(report: Report) -> Iterator[str]:
    for sentence in report.left_out:
        yield f"- {_text(sentence)}"


def _table(rows: Sequence[dict[str, str]]) -> Iterator[str]:
    """A table without padding, which would take most of a comment's room."""
    if rows:
        yield f"| {' | '.join(rows[0])} |"
        yield f"|{'---|' * len(rows[0])}"
        yield from (f"| {' | '.join(row.values())} |" for row in rows)
        yield ""
