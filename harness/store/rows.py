"""Rows of the database as what they stand for, and back."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from dataclasses import asdict, fields

from harness.domain.attempt import Attempt, Circumstances, Job, JobResult, Sweep
from harness.domain.reconciliation import Reconciliation
from harness.errors import ResultError
from harness.files.fields import Fields
from harness.results.as_json import estimate_from_json, estimate_to_json, measurement_from_json, measurement_to_json

Values = dict[str, object]

_KEY_COLUMNS = tuple(field.name for field in fields(Circumstances))
_LISTS = ("causes", "corrections")

_JOB_COLUMNS = tuple(field.name for field in fields(Job))

ATTEMPT_COLUMNS = tuple(field.name for field in fields(Attempt) if field.name != "circumstances") + _KEY_COLUMNS
"""All but the long texts of estimate and measurement."""


def attempt_of(row: Mapping[str, object] | sqlite3.Row) -> Attempt:
    """A row of `attempt`."""
    values = {name: row[name] for name in ATTEMPT_COLUMNS}
    key = Circumstances(**{name: values.pop(name) for name in _KEY_COLUMNS})  # type: ignore[arg-type]  # texts all
    for name in _LISTS:
        values[name] = _texts(str(values[name]))
    return Attempt(**values, circumstances=key)  # type: ignore[arg-type]  # the schema has the same types


def job_of(row: sqlite3.Row) -> Job:
    """A row of `job`."""
    values = {name: row[name] for name in _JOB_COLUMNS}
    return Job(**values | {"min_arena": bool(row["min_arena"])})


def job_result_of(row: sqlite3.Row, attempt: Attempt | None) -> JobResult:
    """A row of `job` with counts of its attempts."""
    not_run = _texts(row["not_run"])
    return JobResult(job_of(row), attempt, row["attempts"], row["failures"], not_run, row["not_run_exit_code"])


def sweep_of(row: sqlite3.Row) -> Sweep:
    """A row of `sweep` with the number of its jobs."""
    return Sweep(**{field.name: row[field.name] for field in fields(Sweep)})


def ended_values(result: Reconciliation, key: Circumstances) -> Values:
    """The columns that the end of an attempt fills in."""
    estimate, measured = result.estimate, result.measurement
    values: Values = asdict(key) | {
        "verdict": result.verdict,
        "causes": json.dumps(result.causes),
        "error_class": result.error_class,
        "exit_code": result.exit_code,
        "error_bytes": result.error_bytes,
        "error_percent": result.error_percent,
    }
    if estimate:
        values |= {
            "method": estimate.method,
            "corrections": json.dumps(estimate.corrections),
            "estimate_bytes": estimate.arena_used_bytes,
            "estimate_minimum_bytes": estimate.min_working_arena_bytes,
            "estimate": json.dumps(estimate_to_json(estimate)),
        }
    if measured:
        values |= {
            "arena_size_bytes": measured.arena_size_bytes,
            "used_bytes": measured.arena_used_bytes,
            "painted_bytes": measured.painted_used_bytes,
            "minimum_bytes": measured.min_working_arena_bytes,
            "stack_bytes": measured.stack_used_bytes,
            "measurement": json.dumps(measurement_to_json(measured)),
        }
    return values


def reconciliation_of(row: sqlite3.Row) -> Reconciliation:
    """A row of `attempt` with its long texts."""
    attempt = attempt_of(row)
    estimate, measurement = _fields(row, "estimate"), _fields(row, "measurement")
    return Reconciliation(
        model=attempt.model,
        sha256=attempt.sha256,
        board=attempt.board,
        tflm=attempt.circumstances.tflm,
        verdict=attempt.verdict,
        estimate=estimate_from_json(estimate) if estimate else None,
        measurement=measurement_from_json(measurement) if measurement else None,
        error_bytes=attempt.error_bytes,
        error_percent=attempt.error_percent,
        causes=attempt.causes,
        exit_code=attempt.exit_code or 0,
        error_class=attempt.error_class,
    )


def _texts(column: str) -> tuple[str, ...]:
    """A JSON list of texts; most are empty, and there may be a hundred thousand."""
    return () if column == "[]" else tuple(json.loads(column))


def _fields(row: sqlite3.Row, column: str) -> Fields | None:
    text = row[column]
    return None if text is None else Fields(f"attempt {row['id']}: {column}", json.loads(text), ResultError)
