"""Comparison of several TFLMs: what each model needs under each of them, and how much more than under the first."""

from __future__ import annotations

from collections.abc import Sequence

from harness.domain.attempt import JobResult
from harness.domain.reconciliation import Reconciliation

Ended = tuple[JobResult, Reconciliation]


def tflms(rows: Sequence[Ended]) -> tuple[str, ...]:
    """The TFLMs that the jobs asked for, in the order of the plan."""
    return tuple(dict.fromkeys(result.job.tflm for result, _ in rows))


def used_changes_bytes(rows: Sequence[Ended]) -> list[int | None]:
    """For each row, the measured bytes more than under the first TFLM; None where one of the two was not measured.

    Args:
        rows: of one sweep. Compared are rows of the same model, board and arena.
    """
    first = {_what(result): _used(row) for result, row in rows if result.job.tflm == tflms(rows)[0]}
    changes: list[int | None] = []
    for result, row in rows:
        before, used = first.get(_what(result)), _used(row)
        changes.append(None if before is None or used is None else used - before)
    return changes


def side_by_side(rows: Sequence[Ended]) -> list[dict[str, object]]:
    """One line for each model, board and arena: bytes used and smallest working arena under each TFLM, and changes.

    The smallest working arena is the measured one, or else the estimate's.
    """
    columns = _column_names(tflms(rows))
    lines: dict[tuple[object, ...], dict[str, object]] = {}
    for (result, row), change in zip(rows, used_changes_bytes(rows), strict=True):
        job, column = result.job, columns[result.job.tflm]
        line = lines.setdefault(_what(result), {"model": job.model, "board": job.board})
        if len({other.job.arena_size_bytes for other, _ in rows}) > 1:
            line["arena"] = job.arena_size_bytes
        line[f"{column}: used"] = row.verdict if _used(row) is None else _used(row)
        line[f"{column}: minimum"] = _minimum(row)
        if job.tflm != tflms(rows)[0]:
            line[f"{column}: change"] = change
    return list(lines.values())


def _column_names(names: Sequence[str]) -> dict[str, str]:
    """The last part of each path; where that does not tell them apart, as much as does."""
    for parts in range(1, 100):
        short = {name: "/".join(name.rstrip("/").split("/")[-parts:]) for name in names}
        if len(set(short.values())) == len(names):
            return short
    return {name: name for name in names}


def _what(result: JobResult) -> tuple[object, ...]:
    job = result.job
    return job.path, job.board, job.arena_size_bytes


def _used(row: Reconciliation) -> int | None:
    return row.measurement.arena_used_bytes if row.measurement else None


def _minimum(row: Reconciliation) -> int | None:
    measured = row.measurement.min_working_arena_bytes if row.measurement else None
    if measured is not None:
        return measured
    return row.estimate.min_working_arena_bytes if row.estimate else None
