"""Compares a sweep with what is expected of it: a baseline that is kept under version control, and budgets."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path

from harness.domain.attempt import Attempt, JobResult
from harness.domain.finding import Checked, Figure, Finding
from harness.errors import ResultError
from harness.files.fields import Fields
from harness.files.text import read_json
from harness.results.budgets import Budgets

_MEASURED = "measured"
_FILE_LIMIT_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True)
class CheckLimits:
    """What is still all right.

    Attributes:
        budgets: bytes per model and board.
        threshold_percent: how far too high an estimate may be.
        tolerance_bytes: how much a model may grow or shrink before it is worth a word.
    """

    budgets: Budgets = field(default_factory=Budgets)
    threshold_percent: float = 20.0
    tolerance_bytes: int = 0


def check(results: Sequence[JobResult], baseline: Sequence[Figure] | None, limits: CheckLimits) -> list[Checked]:
    """Compare a sweep's jobs with a baseline and with budgets.

    Args:
        results: the sweep's jobs.
        baseline: what was found before; None when there is none to compare with.
        limits: what is still all right.

    Returns:
        One row per job, and one per figure that only the baseline has; sorted by board and model.
    """
    before = None if baseline is None else {figure.key: figure for figure in baseline}
    rows = [_check_one(result, before, limits) for result in results]
    present = {row.figure.key for row in rows}
    for figure in baseline or ():
        if figure.key not in present:
            rows.append(Checked(figure, 0.0, (Finding("gone", "it is in the baseline, but not in the sweep"),)))
    return sorted(rows, key=lambda row: row.figure.key)


def figure_of(result: JobResult) -> Figure:
    """The figure that a job came to."""
    job, attempt = result.job, result.attempt
    measured = attempt is not None and attempt.used_bytes is not None
    return Figure(
        board=job.board,
        model=job.model,
        tflm=job.tflm_name,
        arena_size_bytes=job.arena_size_bytes or 0,
        sha256=job.sha256,
        verdict=_MEASURED if measured else result.verdict,
        used_bytes=attempt.used_bytes if attempt else None,
        minimum_bytes=attempt.minimum_bytes if attempt else None,
    )


def updated_baseline(results: Sequence[JobResult], baseline: Sequence[Figure]) -> list[Figure]:
    """The baseline that a sweep makes; where the bench was in trouble, what stood there before stays."""
    before = {figure.key: figure for figure in baseline}
    updated = []
    for result in results:
        figure = figure_of(result)
        if not _bench_trouble(result):
            updated.append(figure)
        elif figure.key in before:
            updated.append(before[figure.key])
    return sorted(updated, key=lambda figure: figure.key)


def baseline_to_text(figures: Sequence[Figure]) -> str:
    """The baseline's file: in a fixed order, one key per line, so that a diff shows what changed and nothing else."""
    rows = [asdict(figure) for figure in sorted(figures, key=lambda figure: figure.key)]
    return json.dumps({"figures": rows}, indent=2, ensure_ascii=False) + "\n"


def read_baseline(path: Path) -> list[Figure]:
    """Read a baseline.

    Raises:
        ResultError: there is none, or the file is something else.
    """
    if not path.exists():
        raise ResultError("there is no baseline", where=path, hint="make one with: harness check --update-baseline")
    values = read_json(path, _FILE_LIMIT_BYTES, ResultError)
    if not isinstance(values, dict):
        raise ResultError("this is no baseline", where=path, expected='an object with "figures"')
    return [_figure(item) for item in Fields(str(path), values, ResultError).inners("figures")]


def _figure(item: Fields) -> Figure:
    return Figure(
        board=item.text("board"),
        model=item.text("model"),
        tflm=item.text("tflm"),
        arena_size_bytes=item.count("arena_size_bytes"),
        sha256=item.text("sha256"),
        verdict=item.text("verdict"),
        used_bytes=item.integer_or_none("used_bytes"),
        minimum_bytes=item.integer_or_none("minimum_bytes"),
    )


def _check_one(
    result: JobResult, baseline: dict[tuple[str, str, str, int], Figure] | None, limits: CheckLimits
) -> Checked:
    figure, attempt = figure_of(result), result.attempt
    seconds = _seconds(attempt) if attempt else 0.0
    if _bench_trouble(result):
        finding = Finding("not_measured", result.causes[0] if result.causes else "no attempt came to an end")
        return Checked(figure, seconds, (finding,), result.causes)
    findings = [] if baseline is None else list(_changes(figure, baseline.get(figure.key), limits.tolerance_bytes))
    findings += _over_budget(figure, limits.budgets)
    findings += _estimate_off(attempt, limits.threshold_percent) if attempt else []
    return Checked(figure, seconds, tuple(findings), result.causes)


def _bench_trouble(result: JobResult) -> bool:
    """Whether nothing was learned about the model."""
    return result.verdict == "error" or (result.attempt is None and result.job.sha256 != "")


def _changes(figure: Figure, before: Figure | None, tolerance_bytes: int) -> Iterator[Finding]:
    if before is None:
        yield Finding("new", "it is not in the baseline", figure.used_bytes)
        return
    if figure.verdict != before.verdict:
        yield Finding("verdict_changed", f"it was {before.verdict}, and is now {figure.verdict}")
    for what, now, then in (
        ("the arena in use", figure.used_bytes, before.used_bytes),
        ("the smallest working arena", figure.minimum_bytes, before.minimum_bytes),
    ):
        if now is None or then is None or abs(now - then) <= tolerance_bytes:
            continue
        kind = "grew" if now > then else "shrank"
        change = "" if figure.sha256 == before.sha256 else "; the model file has changed"
        yield Finding(kind, f"{what} {kind} by {abs(now - then):,} bytes: {then:,} → {now:,}{change}", now, then)


def _over_budget(figure: Figure, budgets: Budgets) -> Iterator[Finding]:
    limit = budgets.limit_bytes(figure.model, figure.board)
    need = max(figure.used_bytes or 0, figure.minimum_bytes or 0)
    if limit is not None and need > limit:
        yield Finding("over_budget", f"it takes {need:,} bytes, {need - limit:,} over its budget", need, limit)


def _estimate_off(attempt: Attempt, threshold_percent: float) -> Iterator[Finding]:
    used, expected, percent = attempt.used_bytes, attempt.estimate_bytes, attempt.error_percent
    if used is not None and expected is not None and percent is not None:
        if expected < used:
            yield Finding("estimate_off", f"the estimate is {used - expected:,} bytes too low", used, expected)
        elif percent > threshold_percent:
            yield Finding("estimate_off", f"the estimate is {percent:.1f} % too high", used, expected)
    minimum, smallest = attempt.minimum_bytes, attempt.estimate_minimum_bytes
    if minimum is not None and smallest is not None and smallest < minimum:
        what = f"the estimated smallest arena is {minimum - smallest:,} bytes too low"
        yield Finding("estimate_off", what, minimum, smallest)


def _seconds(attempt: Attempt) -> float:
    begun, ended = (datetime.fromisoformat(text) for text in (attempt.started_at, attempt.ended_at))
    return (ended - begun).total_seconds()
