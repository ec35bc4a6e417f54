"""The bytes of a virtual board's flash: a file that outlives the board, or memory that does not."""

from __future__ import annotations

import fcntl
import mmap
import os
from pathlib import Path

from harness.errors import StorageError


def open_flash(path: Path | None, size_bytes: int) -> mmap.mmap:
    """The flash array: kept in a file, which is locked and written through, or in memory only.

    Args:
        path: the file; made, as an erased array, where it does not exist.
        size_bytes: how large it is.

    Raises:
        StorageError: the file cannot be used, has another size, or belongs to a running board.
    """
    if path is None:
        flash = mmap.mmap(-1, size_bytes)
        flash[:] = b"\xff" * size_bytes
        return flash
    try:
        return _map_flash_file(path, size_bytes)
    except BlockingIOError as error:
        raise StorageError("the flash file belongs to a running virtual board", where=path) from error
    except OSError as error:
        raise StorageError(f"the flash file cannot be used: {error.strerror}", where=path) from error


def _map_flash_file(path: Path, size_bytes: int) -> mmap.mmap:
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)  # held, as the descriptor is, until the process ends
    size = os.fstat(descriptor).st_size
    if size == 0:
        return _erased(descriptor, size_bytes)
    if size != size_bytes:
        raise StorageError("not a flash file", where=path, measured=f"{size} bytes", expected=f"{size_bytes} bytes")
    return mmap.mmap(descriptor, size_bytes)


def _erased(descriptor: int, size_bytes: int) -> mmap.mmap:
    """Make an empty file an erased array; on a full disk it stays empty."""
    try:
        os.posix_fallocate(descriptor, 0, size_bytes)
    except OSError:
        os.ftruncate(descriptor, 0)
        raise
    flash = mmap.mmap(descriptor, size_bytes)
    flash[:] = b"\xff" * size_bytes
    return flash
