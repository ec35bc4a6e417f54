"""A sweep's final table: one row per job, as `harness run` has one per model."""

from __future__ import annotations

from dataclasses import replace

from harness.domain.attempt import JobResult
from harness.domain.reconciliation import Reconciliation
from harness.results.as_json import Json, reconciliation_to_json
from harness.store import Store


def sweep_rows(store: Store, sweep: int) -> list[tuple[JobResult, Reconciliation]]:
    """How each job of a sweep ended, in the order of the plan."""
    return [(result, _row(store, result)) for result in store.job_results(sweep)]


def sweep_row_to_json(result: JobResult, row: Reconciliation, used_change_bytes: int | None) -> Json:
    """The stable keys of a row of `harness sweep`: those of `harness run`, and what the sweep adds.

    Args:
        result: how the job stands.
        row: what it found.
        used_change_bytes: bytes that it uses more than under the sweep's first TFLM; None where that is unknown.
    """
    attempt = result.attempt
    return reconciliation_to_json(row) | {
        "job": result.job.number,
        "attempt": attempt.id if attempt else None,
        "dut": attempt.dut if attempt else None,
        "tflm_asked": result.job.tflm,
        "used_change_bytes": used_change_bytes,
        "arena_size_asked_bytes": result.job.arena_size_bytes,
        "attempts": result.attempts,
        "failures": result.failures,
        "flaky": result.flaky,
        "error_class": row.error_class or None,
    }


def _row(store: Store, result: JobResult) -> Reconciliation:
    job, attempt = result.job, result.attempt
    flaky = f"flaky: trouble on the bench came before this verdict, at {result.failures} of {result.attempts} tries"
    if attempt is not None:
        found = store.reconciliation(attempt.id)
        causes = (*found.causes, *result.not_run, *([flaky] if result.flaky else []))
        return replace(found, causes=causes)
    return Reconciliation(
        model=job.model,
        sha256=job.sha256,
        board=job.board,
        tflm=job.tflm_name,
        verdict=result.verdict,
        estimate=None,
        measurement=None,
        error_bytes=None,
        error_percent=None,
        causes=result.causes,
        exit_code=result.exit_code,
    )
