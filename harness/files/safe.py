"""Reading files that may be anything, and writing files so that nobody ever reads half of one."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from harness.errors import HarnessError, StorageError


def read_bounded(path: Path, limit_bytes: int, error: type[HarnessError]) -> bytes:
    """All of a file, which the user has named and which may be anything.

    Args:
        path: the file.
        limit_bytes: what is longer is not what it should be, and would fill the memory.
        error: the class of error to raise.

    Raises:
        HarnessError: of the class `error`; it cannot be read, or is too large.
    """
    try:
        with path.open("rb") as file:
            data = file.read(limit_bytes + 1)
    except (OSError, ValueError) as cause:  # ValueError: a name with a zero byte
        raise error(f"the file cannot be read: {getattr(cause, 'strerror', None) or cause}", where=path) from cause
    if len(data) > limit_bytes:
        raise error("the file is too large", where=path, expected=f"at most {limit_bytes:,} bytes")
    return data


def write_atomically(path: Path, data: bytes) -> None:
    """Write a file that is at any moment the old one, or the new one, whole.

    Raises:
        StorageError: the folder cannot be written, the disk is full, or `path` is no regular file.
    """
    target = path.resolve()
    if target.exists() and not target.is_file():
        raise StorageError("this is no regular file, and is left alone", where=path)
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with part.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        part.replace(target)
    except OSError as error:
        with contextlib.suppress(OSError):
            part.unlink()
        raise StorageError(f"it cannot be written: {error.strerror}", where=path) from error


def write_if_changed(path: Path, data: bytes) -> bool:
    """Write a file unless it holds just that already: what is built from it then stays up to date.

    Returns:
        Whether it was written.

    Raises:
        StorageError: as `write_atomically`.
    """
    with contextlib.suppress(OSError):
        if path.is_file() and path.read_bytes() == data:
            return False
    write_atomically(path, data)
    return True
