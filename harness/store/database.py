"""Writing attempts as they happen, and reading them back."""

from __future__ import annotations

import json
import socket
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

from harness.domain.attempt import DONE, FAILED, Attempt, Circumstances, Job, JobResult, Sweep
from harness.domain.reconciliation import Reconciliation
from harness.errors import ResultError, StorageError
from harness.files.version import version
from harness.results.postmortem_file import write_postmortem
from harness.store.logs import read_log, write_log
from harness.store.rows import (
    ATTEMPT_COLUMNS,
    Values,
    attempt_of,
    ended_values,
    job_result_of,
    reconciliation_of,
    sweep_of,
)
from harness.store.schema import connect, storage_errors, transaction

_ATTEMPT = f"SELECT {', '.join(ATTEMPT_COLUMNS)} FROM attempt"  # noqa: S608 - names of our own columns
_SWEEP = "SELECT *, (SELECT count(*) FROM job WHERE job.sweep = sweep.id) AS jobs FROM sweep"
_JOB = """
    SELECT job.*,
        (SELECT count(*) FROM attempt WHERE attempt.sweep = job.sweep AND attempt.job = job.number) AS attempts,
        (SELECT count(*) FROM attempt
         WHERE attempt.sweep = job.sweep AND attempt.job = job.number AND state = 'failed') AS failures
    FROM job WHERE sweep = ? ORDER BY number"""


@contextmanager
def open_store(path: Path, *, create: bool = False) -> Iterator[Store]:
    """Open a results database.

    Args:
        path: the file.
        create: make it, and its folder, when it is not there.

    Raises:
        ResultError: there is none, or it is something else.
        StorageError: it cannot be made or opened.
    """
    if create:
        _make_folder(path.parent)
    elif not path.is_file():
        raise ResultError("there is no results database", where=path, hint="harness sweep makes one; --store names it")
    connection = connect(path)
    try:
        yield Store(connection, path)
    finally:
        connection.close()


class Store:
    """A results database. One thread may use it; several programs may have the same file open.

    What a method writes is on the disk when it returns. Each raises StorageError when the disk is full.

    Args:
        connection: to the database.
        path: its file.
    """

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection = connection
        self._path = path

    @property
    def logs(self) -> Path:
        """The folder of the serial logs."""
        return self._path.parent / "logs"

    def postmortem(self, attempt: int) -> Path:
        """Where the post-mortem of an attempt is, if its device died."""
        return self.logs / f"{attempt}.postmortem.json"

    def begin_sweep(self, jobs: Sequence[Job], options: Values) -> int:
        """Write down a plan before anything is done; returns the sweep's id."""
        with self._writing():
            sweep = self._insert(
                "sweep",
                {
                    "started_at": _now(),
                    "host": socket.gethostname(),
                    "harness_version": version(),
                    "options": json.dumps(options, sort_keys=True),
                },
            )
            for job in jobs:
                self._insert("job", asdict(job) | {"sweep": sweep})
        return sweep

    def resume_sweep(self, sweep: int) -> None:
        """Take up a sweep that was cut off: what ran then was interrupted, what was given up may be tried again."""
        with self._writing():
            self._connection.execute("UPDATE sweep SET ended_at = '' WHERE id = ?", (sweep,))
            self._connection.execute("UPDATE job SET not_run = '[]' WHERE sweep = ? AND sha256 != ''", (sweep,))
        self.interrupt_running(sweep)

    def interrupt_running(self, sweep: int) -> None:
        """Say of the attempts that still seem to run that they were cut off."""
        with self._writing():
            self._connection.execute(
                "UPDATE attempt SET state = 'interrupted', ended_at = ? WHERE sweep = ? AND state = 'running'",
                (_now(), sweep),
            )

    def interrupt_attempt(self, attempt: int) -> None:
        """Say of one attempt that it was cut off."""
        with self._writing():
            self._connection.execute(
                "UPDATE attempt SET state = 'interrupted', ended_at = ? WHERE id = ?", (_now(), attempt)
            )

    def end_sweep(self, sweep: int) -> None:
        """Say that a sweep came to its end."""
        with self._writing():
            self._connection.execute("UPDATE sweep SET ended_at = ? WHERE id = ?", (_now(), sweep))

    def begin_attempt(self, sweep: int | None, job: Job, dut: str, host: str = "") -> int:
        """Write down that a job is being tried; returns the attempt's id."""
        with self._writing():
            row = self._connection.execute(
                "SELECT count(*) FROM attempt WHERE sweep = ? AND job = ?", (sweep, job.number)
            ).fetchone()
            return self._insert(
                "attempt",
                {
                    "sweep": sweep,
                    "job": None if sweep is None else job.number,
                    "number": row[0] + 1,
                    "state": "running",
                    "started_at": _now(),
                    "host": host or socket.gethostname(),
                    "harness_version": version(),
                    "model": job.model,
                    "sha256": job.sha256,
                    "board": job.board,
                    "dut": dut,
                    "asked_arena_bytes": job.arena_size_bytes,
                },
            )

    def end_attempt(self, attempt: int, result: Reconciliation, key: Circumstances, log: bytes = b"") -> None:
        """Write down how an attempt ended, and keep what was on the serial line."""
        name = write_log(self.logs, attempt, log)
        if result.postmortem:
            write_postmortem(self.postmortem(attempt), result.postmortem)
        values = ended_values(result, key)
        state = FAILED if result.verdict == "error" else DONE
        values |= {"state": state, "ended_at": _now(), "log": name}
        assignments = ", ".join(f"{column} = :{column}" for column in values)
        with self._writing():
            self._connection.execute(
                f"UPDATE attempt SET {assignments} WHERE id = :id",  # noqa: S608 - names of our own columns
                values | {"id": attempt},
            )

    def give_up_job(self, sweep: int, job: int, causes: Sequence[str], exit_code: int = 3) -> None:
        """Write down why a job is not tried, or not tried again."""
        with self._writing():
            self._connection.execute(
                "UPDATE job SET not_run = ?, not_run_exit_code = ? WHERE sweep = ? AND number = ?",
                (json.dumps(causes), exit_code, sweep, job),
            )

    def sweeps(self) -> list[Sweep]:
        """All sweeps, the oldest first."""
        return [sweep_of(row) for row in self._rows(f"{_SWEEP} ORDER BY id")]

    def sweep(self, sweep: int | None = None) -> Sweep:
        """A sweep by its id, or the last one.

        Raises:
            ResultError: there is none.
        """
        rows = self._rows(f"{_SWEEP} WHERE ? IS NULL OR id = ? ORDER BY id DESC LIMIT 1", sweep, sweep)
        if not rows:
            what = "there is no sweep yet" if sweep is None else f"there is no sweep {sweep}"
            raise ResultError(what, where=self._path, hint="list them with: harness history --sweeps")
        return sweep_of(rows[0])

    def job_results(self, sweep: int) -> list[JobResult]:
        """How each job of a sweep stands, in the order of the plan."""
        ended = {attempt.job: attempt for attempt in self.attempts(sweep) if attempt.state in (DONE, FAILED)}
        return [job_result_of(row, ended.get(row["number"])) for row in self._rows(_JOB, sweep)]

    def attempts(self, sweep: int | None = None) -> list[Attempt]:
        """All attempts of a sweep, or all there are, the oldest first."""
        if sweep is None:
            return [attempt_of(row) for row in self._rows(f"{_ATTEMPT} ORDER BY id")]
        return [attempt_of(row) for row in self._rows(f"{_ATTEMPT} WHERE sweep = ? ORDER BY id", sweep)]

    def ended(self, columns: Sequence[str]) -> Iterator[sqlite3.Row]:
        """Some columns of every attempt that came to a verdict, the oldest first: for a hundred thousand of them."""
        names = ", ".join(column for column in columns if column in ATTEMPT_COLUMNS)
        statement = f"SELECT {names} FROM attempt WHERE verdict != '' ORDER BY id"  # noqa: S608 - our own columns
        with storage_errors(self._path):
            yield from self._connection.execute(statement)

    def history(self, model: str, board: str | None = None) -> list[Attempt]:
        """The attempts at a model that ended, the oldest first.

        Args:
            model: its file name, or its SHA-256.
            board: on this board only.
        """
        column = "sha256" if len(model) == 64 and set(model) <= set("0123456789abcdef") else "model"
        where = f"WHERE {column} = ? AND (? IS NULL OR board = ?) AND state IN ('done', 'failed') ORDER BY id"
        return [attempt_of(row) for row in self._rows(f"{_ATTEMPT} {where}", model, board, board)]

    def models(self) -> list[str]:
        """The names of all models that were ever tried, sorted."""
        return [row[0] for row in self._rows("SELECT DISTINCT model FROM attempt ORDER BY model")]

    def reconciliation(self, attempt: int) -> Reconciliation:
        """All that an attempt found, with estimate and measurement.

        Raises:
            ResultError: there is no such attempt.
        """
        rows = self._rows("SELECT * FROM attempt WHERE id = ?", attempt)
        if not rows:
            raise ResultError(f"there is no attempt {attempt}", where=self._path)
        return reconciliation_of(rows[0])

    def log(self, attempt: Attempt) -> bytes:
        """What was on the serial line during an attempt; empty when nothing was.

        Raises:
            ResultError: the log's file is gone.
        """
        return read_log(self.logs, attempt.log) if attempt.log else b""

    @contextmanager
    def _writing(self) -> Iterator[None]:
        with storage_errors(self._path), transaction(self._connection):
            yield

    def _insert(self, table: str, values: Values) -> int:
        columns, marks = ", ".join(values), ", ".join(f":{column}" for column in values)
        statement = f"INSERT INTO {table} ({columns}) VALUES ({marks})"  # noqa: S608 - names of our own columns
        return self._connection.execute(statement, values).lastrowid or 0

    def _rows(self, statement: str, *parameters: object) -> list[sqlite3.Row]:
        with storage_errors(self._path):
            return self._connection.execute(statement, parameters).fetchall()


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError(f"cannot make the folder of results: {error.strerror}", where=folder) from error


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
