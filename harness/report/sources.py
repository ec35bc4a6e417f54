"""Where a report's outcomes come from: the results database, or files of `harness run --format json`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from harness.domain.attempt import DONE, FAILED, Attempt, JobResult
from harness.domain.reconciliation import Reconciliation
from harness.report.facts import Outcome
from harness.results import read_reconciliations


def sweep_outcomes(results: Iterable[JobResult]) -> list[Outcome]:
    """How each job of a sweep stands."""
    return [_of_job(result) for result in results]


def past_outcomes(attempts: Sequence[Attempt]) -> list[Outcome]:
    """Every attempt that came to a verdict."""
    failed = {(attempt.sweep, attempt.job) for attempt in attempts if attempt.state == FAILED and attempt.job}
    return [
        _of_attempt(attempt, flaky=attempt.state == DONE and (attempt.sweep, attempt.job) in failed)
        for attempt in attempts
        if attempt.verdict
    ]


def file_outcomes(path: Path) -> list[Outcome]:
    """The rows of a file that `harness run --format json` wrote.

    Raises:
        ResultError: the file cannot be read, or is no such list.
    """
    return list(_of_rows(read_reconciliations(path)))


def _of_job(result: JobResult) -> Outcome:
    if result.attempt:
        return _of_attempt(result.attempt, causes=result.causes, flaky=result.flaky)
    job = result.job
    return Outcome(job.model, job.sha256, job.board, job.tflm, dut="", verdict=result.verdict, causes=result.causes)


def _of_attempt(attempt: Attempt, causes: tuple[str, ...] | None = None, *, flaky: bool) -> Outcome:
    key = attempt.circumstances
    return Outcome(
        model=attempt.model,
        sha256=attempt.sha256,
        board=attempt.board,
        tflm=key.tflm,
        dut=attempt.dut,
        verdict=attempt.verdict,
        when=attempt.started_at,
        arena_size_bytes=attempt.arena_size_bytes,
        estimate_bytes=attempt.estimate_bytes,
        used_bytes=attempt.used_bytes,
        painted_bytes=attempt.painted_bytes,
        minimum_bytes=attempt.minimum_bytes,
        error_bytes=attempt.error_bytes,
        error_percent=attempt.error_percent,
        causes=attempt.causes if causes is None else causes,
        flaky=flaky,
        key={
            "TFLM source": key.tflm_hash,
            "kernels": key.kernels,
            "toolchain": key.toolchain,
            "compiler flags": key.flags,
            "firmware build": key.build_id,
            "corrections": ", ".join(attempt.corrections),
            "harness version": attempt.harness_version,
        },
    )


def _of_rows(rows: list[Reconciliation]) -> Iterator[Outcome]:
    for row in rows:
        measured = row.measurement
        yield Outcome(
            model=row.model,
            sha256=row.sha256,
            board=row.board,
            tflm=row.tflm,
            dut=measured.unit or measured.probe_id if measured else "",
            verdict=row.verdict,
            arena_size_bytes=measured.arena_size_bytes if measured else None,
            estimate_bytes=row.estimate.arena_used_bytes if row.estimate else None,
            used_bytes=measured.arena_used_bytes if measured else None,
            painted_bytes=measured.painted_used_bytes if measured else None,
            minimum_bytes=measured.min_working_arena_bytes if measured else None,
            error_bytes=row.error_bytes,
            error_percent=row.error_percent,
            causes=row.causes,
            key={
                "kernels": row.estimate.profile.kernels if row.estimate else "",
                "firmware build": measured.build_id if measured else "",
                "corrections": ", ".join(row.estimate.corrections) if row.estimate else "",
            },
        )
