"""The raw serial logs, one file per attempt, in the folder `logs` beside the database."""

from __future__ import annotations

import gzip
from pathlib import Path

from harness.errors import ResultError, StorageError
from harness.files.safe import write_atomically

_PLAIN_BYTES = 256 * 1024
"""Longer logs are compressed."""


def write_log(folder: Path, attempt: int, data: bytes) -> str:
    """Keep what was on the line during an attempt.

    Returns:
        The file's name; empty when there was nothing.

    Raises:
        StorageError: it cannot be written.
    """
    if not data:
        return ""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError(f"cannot make the folder of logs: {error.strerror}", where=folder) from error
    large = len(data) > _PLAIN_BYTES
    path = folder / (f"{attempt}.log.gz" if large else f"{attempt}.log")
    write_atomically(path, gzip.compress(data) if large else data)
    return path.name


def read_log(folder: Path, name: str) -> bytes:
    """The bytes of a log.

    Raises:
        ResultError: it is gone.
    """
    path = folder / name
    try:
        data = path.read_bytes()
        return gzip.decompress(data) if path.suffix == ".gz" else data
    except (OSError, EOFError) as error:
        raise ResultError(f"the log cannot be read: {error}", where=path) from error
