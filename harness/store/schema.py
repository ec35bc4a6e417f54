"""The database file: how it is opened, its tables, and how older ones are brought up to date."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from harness.errors import HarnessError, ResultError, StorageError

DEFAULT_STORE = Path("results/harness.db")

_BUSY_S = 30.0
"""How long to wait for another program's transaction; each takes milliseconds."""

_FIRST = (
    """
    CREATE TABLE sweep (
        id INTEGER PRIMARY KEY,
        started_at TEXT NOT NULL,
        ended_at TEXT NOT NULL DEFAULT '',
        host TEXT NOT NULL,
        harness_version TEXT NOT NULL,
        options TEXT NOT NULL
    )""",
    """
    CREATE TABLE job (
        sweep INTEGER NOT NULL REFERENCES sweep,
        number INTEGER NOT NULL,
        model TEXT NOT NULL,
        path TEXT NOT NULL,
        sha256 TEXT NOT NULL,
        board TEXT NOT NULL,
        tflm TEXT NOT NULL,
        arena_size_bytes INTEGER,
        min_arena INTEGER NOT NULL,
        not_run TEXT NOT NULL DEFAULT '[]',
        not_run_exit_code INTEGER NOT NULL DEFAULT 3,
        PRIMARY KEY (sweep, number)
    ) WITHOUT ROWID""",
    # The long texts come last: what reads the columns before them need not read over them.
    """
    CREATE TABLE attempt (
        id INTEGER PRIMARY KEY,
        sweep INTEGER REFERENCES sweep,
        job INTEGER,
        number INTEGER NOT NULL,
        state TEXT NOT NULL CHECK (state IN ('running', 'done', 'failed', 'interrupted')),
        started_at TEXT NOT NULL,
        ended_at TEXT NOT NULL DEFAULT '',
        host TEXT NOT NULL,
        harness_version TEXT NOT NULL,
        model TEXT NOT NULL,
        sha256 TEXT NOT NULL,
        board TEXT NOT NULL,
        dut TEXT NOT NULL,
        probe_id TEXT NOT NULL DEFAULT '',
        unit TEXT NOT NULL DEFAULT '',
        tflm TEXT NOT NULL DEFAULT '',
        tflm_version TEXT NOT NULL DEFAULT '',
        tflm_hash TEXT NOT NULL DEFAULT '',
        kernels TEXT NOT NULL DEFAULT '',
        toolchain TEXT NOT NULL DEFAULT '',
        flags TEXT NOT NULL DEFAULT '',
        build_id TEXT NOT NULL DEFAULT '',
        asked_arena_bytes INTEGER,
        arena_size_bytes INTEGER,
        method TEXT NOT NULL DEFAULT '',
        corrections TEXT NOT NULL DEFAULT '[]',
        verdict TEXT NOT NULL DEFAULT '',
        error_class TEXT NOT NULL DEFAULT '',
        exit_code INTEGER,
        estimate_bytes INTEGER,
        estimate_minimum_bytes INTEGER,
        used_bytes INTEGER,
        painted_bytes INTEGER,
        minimum_bytes INTEGER,
        stack_bytes INTEGER,
        error_bytes INTEGER,
        error_percent REAL,
        log TEXT NOT NULL DEFAULT '',
        causes TEXT NOT NULL DEFAULT '[]',
        estimate TEXT,
        measurement TEXT
    )""",
    "CREATE UNIQUE INDEX attempt_of_job ON attempt (sweep, job, number)",
    "CREATE INDEX attempt_of_model ON attempt (model, board, id)",
    "CREATE INDEX attempt_of_hash ON attempt (sha256, board, id)",
)

_MIGRATIONS: tuple[tuple[str, ...], ...] = (_FIRST,)
"""Statements that lead from each version to the next; the first make an empty file a store."""

VERSION = len(_MIGRATIONS)
"""Of the schema, kept as SQLite's `user_version`."""


def connect(path: Path) -> sqlite3.Connection:
    """Open the database, and make or migrate its tables where that is needed.

    Every transaction is on the disk when it is over (WAL, synchronous=FULL), whatever is killed or switched off.

    Raises:
        StorageError: the file cannot be made, opened or written.
        ResultError: it is no database, or one of a newer harness.
    """
    with storage_errors(path):
        connection = sqlite3.connect(path, timeout=_BUSY_S, isolation_level=None)
        connection.row_factory = sqlite3.Row
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA foreign_keys = ON")
            _migrate(connection, path)
        except BaseException:
            connection.close()
            raise
    return connection


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """All of the statements within, or none of them."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        if connection.in_transaction:  # a full disk has already ended it
            connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


@contextmanager
def storage_errors(path: Path) -> Iterator[None]:
    """Say SQLite's errors as harness's own."""
    try:
        yield
    except sqlite3.Error as error:
        raise _as_ours(error, path) from error


def _as_ours(error: sqlite3.Error, path: Path) -> HarnessError:
    code = getattr(error, "sqlite_errorcode", None)
    primary = None if code is None else code & 0xFF  # the upper bits tell kinds of the same error apart
    if primary in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT):
        return ResultError(f"this is no results database: {error}", where=path, hint="name another with --store")
    if primary == sqlite3.SQLITE_FULL:
        return StorageError("the disk is full", where=path, hint="free some space, then: harness sweep --resume")
    if primary in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return StorageError("another program holds the results database", where=path, hint="end it, or wait for it")
    return StorageError(f"the results database cannot be used: {error}", where=path, hint="is its folder writable?")


def _migrate(connection: sqlite3.Connection, path: Path) -> None:
    if _version(connection) == VERSION:
        return
    with transaction(connection):  # another program may be about the same: look again, alone
        found = _version(connection)
        if found > VERSION:
            raise ResultError(
                "the results database is of a newer harness",
                where=path,
                measured=f"version {found}",
                expected=f"at most {VERSION}",
                hint="update harness, or name another with --store",
            )
        for statement in (line for step in _MIGRATIONS[found:] for line in step):
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {VERSION}")


def _version(connection: sqlite3.Connection) -> int:
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return version
