"""Comparison of several TFLMs: what each model needs under each of them, and how much more than under the first."""

from __future__ import annotations

from collections.abc import Sequence

from harness.domain.attempt import Attempt, JobResult
from harness.results.changes import grown_bytes


def tflms(results: Sequence[JobResult]) -> tuple[str, ...]:
    """The TFLMs that the jobs asked for, in the order of the plan."""
    return tuple(dict.fromkeys(result.job.tflm for result in results))


def used_changes_bytes(results: Sequence[JobResult]) -> list[int | None]:
    """For each job, the measured bytes more than under the first TFLM; None where one of the two was not measured.

    Args:
        results: of one sweep. Compared are jobs of the same model, board and arena.
    """
    first = next(iter(tflms(results)), "")
    before = {_what(result): result.attempt for result in results if result.job.tflm == first}
    return [grown_bytes(before.get(_what(result)), result.attempt) if result.attempt else None for result in results]


def side_by_side(results: Sequence[JobResult]) -> list[dict[str, object]]:
    """One line for each model, board and arena: bytes used and smallest working arena under each TFLM, and changes.

    The smallest working arena is the measured one, or else the estimate's.
    """
    first, *_ = names = tflms(results)
    columns = _column_names(names)
    several_arenas = len({result.job.arena_size_bytes for result in results}) > 1
    lines: dict[tuple[object, ...], dict[str, object]] = {}
    for result, change in zip(results, used_changes_bytes(results), strict=True):
        job, attempt, column = result.job, result.attempt, columns[result.job.tflm]
        line = lines.setdefault(_what(result), {"model": job.model, "board": job.board})
        if several_arenas:
            line["arena"] = job.arena_size_bytes
        used = attempt.used_bytes if attempt else None
        line[f"{column}: used"] = result.verdict if used is None else used
        line[f"{column}: minimum"] = _minimum_bytes(attempt) if attempt else None
        if job.tflm != first:
            line[f"{column}: change"] = change
    return list(lines.values())


def _column_names(names: Sequence[str]) -> dict[str, str]:
    """The last part of each path; where that does not tell them apart, as much as does."""
    parts = {name: name.rstrip("/").split("/") for name in names}
    for count in range(1, max(map(len, parts.values())) + 1):
        short = {name: "/".join(each[-count:]) for name, each in parts.items()}
        if len(set(short.values())) == len(names):
            return short
    return {name: name for name in names}


def _what(result: JobResult) -> tuple[object, ...]:
    job = result.job
    return job.path, job.board, job.arena_size_bytes


def _minimum_bytes(attempt: Attempt) -> int | None:
    return attempt.estimate_minimum_bytes if attempt.minimum_bytes is None else attempt.minimum_bytes
