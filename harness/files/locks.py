"""Locks on things that one program at a time may use: a debug probe, a serial port. A refusal names the holder.

The lock itself is the kernel's (`flock`), so that it ends with its process, however that ends. Who holds it stands in
a JSON file next to it, which is only believed while the lock is held.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from urllib.parse import quote

import filelock
import platformdirs

from harness.errors import BenchError, StorageError


@dataclass(frozen=True)
class Holder:
    """Who holds a lock.

    Attributes:
        program: the name it was started by.
        pid: its process.
        since: when it took the lock, local time.
    """

    program: str
    pid: int
    since: str

    def __str__(self) -> str:
        return f"held by {self.program} (process {self.pid}) since {self.since}"


@contextmanager
def hold(resource: str, refused: type[BenchError], folder: Path | None = None) -> Iterator[None]:
    """Hold `resource` for as long as the context lasts.

    Args:
        resource: its name, the same for every program: a probe's unique id, a port's real path.
        refused: the error to raise when another program holds it.
        folder: where the locks lie; by default in the user's state folder.

    Raises:
        BenchError: of the class `refused`, naming the holder.
        StorageError: the lock file cannot be made.
    """
    path = _folder(folder) / quote(resource, safe="")
    note = path.with_name(path.name + ".json")
    lock = filelock.FileLock(path.with_name(path.name + ".lock"))
    try:
        lock.acquire(timeout=0)
    except filelock.Timeout as error:
        raise refused(
            "in use", where=resource, measured=_read(note), hint="end that program, or wait for it"
        ) from error
    except OSError as error:
        raise StorageError(f"cannot make the lock: {error.strerror}", where=path) from error
    try:
        with suppress(OSError):  # a full disk must not stop what needs no disk; the holder then has no name
            note.write_text(json.dumps(asdict(_myself())), encoding="utf-8")
        yield
    finally:
        with suppress(OSError):  # the note is believed only while the lock is held
            note.unlink(missing_ok=True)
        lock.release()


def _folder(folder: Path | None) -> Path:
    path = folder or platformdirs.user_state_path("harness") / "locks"
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError(f"cannot make the folder of locks: {error.strerror}", where=path) from error
    return path


def _myself() -> Holder:
    return Holder(Path(sys.argv[0]).name or "python", os.getpid(), datetime.now().astimezone().strftime("%H:%M:%S"))


def _read(note: Path) -> str:
    """What the note says; the holder may just be writing or removing it."""
    with suppress(OSError, ValueError, TypeError):
        return str(Holder(**json.loads(note.read_text(encoding="utf-8"))))
    return "held by another program"
