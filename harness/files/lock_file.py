"""A file to lock in a folder that everybody may write to, where it may be anything, and anybody's."""

from __future__ import annotations

import errno
import os
import stat
import time
from contextlib import suppress
from pathlib import Path
from typing import Protocol

_FOR_ALL = 0o666
_LIMIT_BYTES = 4096
_PATIENCE_S = 0.5
_RETRY_S = 0.005


class LockFile(Protocol):
    """An open file that can be locked."""

    def take(self) -> bool:
        """Lock it; False when another program has."""

    def write(self, data: bytes) -> None:
        """Say who holds it."""

    def read(self) -> bytes:
        """What its holder said."""

    def close(self) -> None:
        """Let go of it. Never raises."""


class LockFileError(Exception):
    """What lies there is no lock file of harness's."""


def open_lock_file(path: Path) -> LockFile:
    """Open a lock file, and make it where it is missing, so that every user can lock it.

    Raises:
        LockFileError: something else lies there.
        OSError: it cannot be opened.
    """
    try:
        import fcntl  # noqa: F401, PLC0415 - not every system has it
    except ImportError:
        return _PortableFile(path)
    return _KernelFile(path)


class _KernelFile:
    """Locked by `flock`.

    Nothing is followed and nothing is created over: in a folder of everybody's a name may be a trap. The kernel itself
    refuses O_CREAT for another user's file there (fs.protected_regular), so that an existing file is opened without.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._held = False
        self._descriptor = self._open()

    def take(self) -> bool:
        """Lock it; False when another program has."""
        import fcntl  # noqa: PLC0415 - see `open_lock_file`

        while True:
            try:
                fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                return False
            if self._is_still_there():
                self._held = True
                return True
            os.close(self._descriptor)  # its last holder, or somebody who tidied up, has removed it meanwhile
            self._descriptor = self._open()

    def write(self, data: bytes) -> None:
        """Say who holds it."""
        os.ftruncate(self._descriptor, 0)
        os.pwrite(self._descriptor, data, 0)

    def read(self) -> bytes:
        """What its holder said."""
        return os.pread(self._descriptor, _LIMIT_BYTES, 0)

    def close(self) -> None:
        """Let go of it, and remove it where it is one's own: who locks it after that finds out in `take`."""
        with suppress(OSError):
            if self._held:
                os.ftruncate(self._descriptor, 0)
                if self._is_still_there():
                    self._path.unlink()
        with suppress(OSError):
            os.close(self._descriptor)

    def _open(self) -> int:
        deadline = time.monotonic() + _PATIENCE_S
        while True:
            try:
                return _trusted(_open_or_make(self._path), self._path)
            except (PermissionError, FileNotFoundError):  # being made just now, or removed just now
                if time.monotonic() > deadline:
                    raise
                time.sleep(_RETRY_S)
            except OSError as error:
                if error.errno == errno.ELOOP:
                    raise LockFileError(f"what lies at {self._path.name} is a link") from error
                raise

    def _is_still_there(self) -> bool:
        try:
            found = self._path.lstat()
        except OSError:
            return False
        opened = os.fstat(self._descriptor)
        return (found.st_dev, found.st_ino) == (opened.st_dev, opened.st_ino)


def _open_or_make(path: Path) -> int:
    flags = os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    with suppress(FileNotFoundError):
        return os.open(path, flags)
    try:
        descriptor = os.open(path, flags | os.O_CREAT | os.O_EXCL, _FOR_ALL)
    except FileExistsError:
        return os.open(path, flags)
    os.fchmod(descriptor, _FOR_ALL)  # whatever the umask says
    return descriptor


def _trusted(descriptor: int, path: Path) -> int:
    """The descriptor, when it is that of a plain small file under one name."""
    found = os.fstat(descriptor)
    if stat.S_ISREG(found.st_mode) and found.st_nlink <= 1 and found.st_size <= _LIMIT_BYTES:
        return descriptor
    os.close(descriptor)
    raise LockFileError(f"what lies at {path.name} is no lock file of harness")


class _PortableFile:
    """Locked by what `filelock` finds on this system; its holder's words lie beside it."""

    def __init__(self, path: Path) -> None:
        from filelock import FileLock, Timeout  # noqa: PLC0415 - where there is no `flock`

        self._timeout = Timeout
        self._lock = FileLock(path)
        self._note = path.with_suffix(".json")

    def take(self) -> bool:
        """Lock it; False when another program has."""
        try:
            self._lock.acquire(timeout=0)
        except self._timeout:
            return False
        return True

    def write(self, data: bytes) -> None:
        """Say who holds it."""
        self._note.write_bytes(data)

    def read(self) -> bytes:
        """What its holder said."""
        with self._note.open("rb") as file:
            return file.read(_LIMIT_BYTES)

    def close(self) -> None:
        """Let go of it."""
        with suppress(OSError):
            if self._lock.is_locked:
                self._note.unlink(missing_ok=True)
        self._lock.release()
