"""Writing files so that nobody ever reads half of one."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from harness.errors import StorageError


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
