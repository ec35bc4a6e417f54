"""A cache of folders, each named by a hash over everything that its content depends on."""

from __future__ import annotations

import errno
import hashlib
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from harness.errors import StorageError
from harness.files.folders import cache_folder

_NO_SPACE = (errno.ENOSPC, errno.EDQUOT)


def fingerprint(*parts: str | bytes) -> str:
    """SHA-256 over `parts`, in hex. Their borders count: ("ab", "c") and ("a", "bc") differ."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    return digest.hexdigest()


class Cache:
    """Entries on disk that are either whole or not there, whatever was interrupted.

    Args:
        root: the folder; by default `harness` in the user's cache folder (XDG_CACHE_HOME).
    """

    def __init__(self, root: Path | None = None) -> None:
        self._root = root or cache_folder()

    def find(self, kind: str, key: str) -> Path | None:
        """The folder of an entry; None while nobody has made it."""
        folder = self._root / kind / key
        return folder if folder.is_dir() else None

    def entry(self, kind: str, key: str, make: Callable[[Path], None]) -> Path:
        """The folder of an entry, made by `make` when it is not there yet.

        Two processes that want the same entry at once make it once: the second waits for the first.

        Args:
            kind: a word that groups entries.
            key: a `fingerprint`.
            make: fills the empty folder that it is given.

        Raises:
            StorageError: the disk is full, or the cache folder cannot be written.
        """
        folder = self._root / kind / key
        if folder.is_dir():
            return folder
        from filelock import FileLock  # noqa: PLC0415 - only now, since it warns where it has to do without `flock`

        with _storage_errors(self._root):
            folder.parent.mkdir(parents=True, exist_ok=True)
            with FileLock(folder.with_name(f"{key}.lock")):
                if not folder.is_dir():
                    _make_whole(folder, make)
        return folder


def _make_whole(folder: Path, make: Callable[[Path], None]) -> None:
    """Fill a folder under another name, then rename it. The caller holds the entry's lock."""
    prefix = f".{folder.name}-"
    for left_over in folder.parent.glob(f"{prefix}*"):  # of a process that was killed
        shutil.rmtree(left_over)
    unfinished = Path(tempfile.mkdtemp(prefix=prefix, dir=folder.parent))
    try:
        make(unfinished)
        unfinished.rename(folder)
    except BaseException:  # Ctrl-C as well: nothing half-made may stay
        shutil.rmtree(unfinished, ignore_errors=True)
        raise


@contextmanager
def _storage_errors(root: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno in _NO_SPACE:
            raise StorageError("the disk is full", where=root, hint="free some space, then try again") from error
        raise StorageError(
            f"the cache folder cannot be used: {error.strerror or error}",
            where=error.filename or root,
            hint="make it writable, or let XDG_CACHE_HOME name another folder",
        ) from error
