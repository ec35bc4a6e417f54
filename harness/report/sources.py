"""Sources of a report's attempts: the results database, or files of `harness run --format json`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from harness.domain.attempt import DONE, FAILED, JobResult
from harness.domain.reconciliation import Reconciliation, RecordedSection, recorded_sections
from harness.report.facts import ReportedAttempt
from harness.results.as_json import read_reconciliations
from harness.store import Store

_KEY = {
    "tflm_hash": "TFLM source",
    "kernels": "kernels",
    "toolchain": "toolchain",
    "flags": "compiler flags",
    "build_id": "firmware build",
    "corrections": "corrections",
    "harness_version": "harness version",
}
"""What results depend on besides model, board and TFLM: column of the store → name for people."""

_OWN_COLUMNS = (
    *("model", "sha256", "board", "tflm", "dut", "verdict", "started_at", "used_bytes"),
    *("state", "sweep", "job", "causes"),
)
_PAST_COLUMNS = (*_OWN_COLUMNS, *_KEY)


def sweep_outcomes(store: Store, results: Iterable[JobResult]) -> list[ReportedAttempt]:
    """How each job of a sweep stands."""
    return [_of_job(store, result) for result in results]


def past_outcomes(store: Store) -> list[ReportedAttempt]:
    """Every attempt that came to a verdict, the oldest first, with what histories and health need of it."""
    failed: set[tuple[int, int]] = set()
    keys: dict[tuple[str, ...], dict[str, str]] = {}  # there are few, and each is the key of thousands
    outcomes = []
    for row in store.ended(_PAST_COLUMNS):
        (model, sha256, board, tflm, dut, verdict, when, used_bytes, state, sweep, job, causes), key = (
            row[:12],
            row[12:],
        )
        if state == FAILED:
            failed.add((sweep, job))
        outcomes.append(
            ReportedAttempt(
                model=model,
                sha256=sha256,
                board=board,
                tflm=tflm,
                dut=dut,
                verdict=verdict,
                when=when,
                used_bytes=used_bytes,
                causes=tuple(json.loads(causes)) if verdict != "ok" else (),
                flaky=state == DONE and (sweep, job) in failed,
                key=keys.setdefault(key, dict(zip(_KEY.values(), key, strict=True))),
            )
        )
    return outcomes


def file_outcomes(path: Path) -> list[ReportedAttempt]:
    """The rows of a file that `harness run --format json` wrote.

    Raises:
        ResultError: the file cannot be read, or is no such list.
    """
    return list(_of_rows(read_reconciliations(path)))


def _of_job(store: Store, result: JobResult) -> ReportedAttempt:
    job, attempt = result.job, result.attempt
    if attempt is None:
        tflm = job.tflm_name  # a report is handed around: no folders of this machine
        return ReportedAttempt(
            job.model, job.sha256, job.board, tflm, dut="", verdict=result.verdict, causes=result.causes
        )
    return ReportedAttempt(
        model=attempt.model,
        sha256=attempt.sha256,
        board=attempt.board,
        tflm=attempt.circumstances.tflm,
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
        causes=result.causes,
        sections=_sections(store.reconciliation(attempt.id)),
        flaky=result.flaky,
        key={"kernels": attempt.circumstances.kernels},
    )


def _sections(row: Reconciliation) -> tuple[RecordedSection, ...]:
    return recorded_sections(row.estimate, row.measurement)


def _of_rows(rows: list[Reconciliation]) -> Iterator[ReportedAttempt]:
    for row in rows:
        measured = row.measurement
        yield ReportedAttempt(
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
            sections=_sections(row),
            key={
                "kernels": row.estimate.profile.kernels if row.estimate else "",
                "firmware build": measured.build_id if measured else "",
                "corrections": ", ".join(row.estimate.corrections) if row.estimate else "",
            },
        )
