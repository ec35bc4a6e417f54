"""Locks on things that one program at a time may use: a debug probe, a serial port. A refusal names the holder.

They hold for the whole machine, whoever the user is. The lock itself is the kernel's (`flock`), so that it ends with
its process, however that ends. Who holds it stands in the locked file, and is believed only while the lock is held.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from urllib.parse import quote

from harness.errors import BenchError, StorageError
from harness.files.folders import machine_folder
from harness.files.lock_file import LockFile, LockFileError, open_lock_file

_LONGEST_NAME = 120


@dataclass(frozen=True)
class Holder:
    """Who holds a lock.

    Attributes:
        program: the name it was started by.
        pid: its process.
        since: when it took the lock, local time.
        user: whose process it is; empty where nobody can tell.
    """

    program: str
    pid: int
    since: str
    user: str = ""

    def __str__(self) -> str:
        whose = f" by {self.user}" if self.user else ""
        return f"held by {self.program} (process {self.pid}) since {self.since}{whose}"


@contextmanager
def hold(resource: str, refused: type[BenchError], folder: Path | None = None) -> Iterator[None]:
    """Hold `resource` for as long as the context lasts.

    Args:
        resource: its name, the same for every program: a probe's unique id, a port's real path.
        refused: the error to raise when another program holds it.
        folder: where the locks lie; by default one that all users of this machine share.

    Raises:
        BenchError: of the class `refused`, naming the holder.
        StorageError: the lock file cannot be made, or cannot be trusted.
    """
    path = (folder or machine_folder()) / _file_name(resource)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = open_lock_file(path)
    except LockFileError as error:
        raise StorageError(str(error), where=path, hint="have its owner, or root, remove it") from error
    except OSError as error:
        raise StorageError(f"cannot make the lock: {error.strerror}", where=path) from error
    try:
        if not lock.take():
            raise refused("in use", where=resource, measured=_read(lock), hint="end that program, or wait for it")
        with suppress(OSError):  # a full disk must not stop what needs no disk; the holder then has no name
            lock.write(json.dumps(asdict(_myself())).encode())
        yield
    finally:
        lock.close()


def _file_name(resource: str) -> str:
    name = quote(resource, safe="")
    if len(name) > _LONGEST_NAME:
        name = f"{name[:_LONGEST_NAME]}-{sha256(resource.encode()).hexdigest()[:16]}"
    return f"harness-{name}.lock"


def _myself() -> Holder:
    since = datetime.now().astimezone().strftime("%H:%M:%S")
    return Holder(Path(sys.argv[0]).name or "python", os.getpid(), since, _user())


def _user() -> str:
    try:
        import pwd  # noqa: PLC0415 - not every system has it

        return pwd.getpwuid(os.geteuid()).pw_name
    except (ImportError, KeyError, AttributeError):
        return os.environ.get("USERNAME", "")


def _read(lock: LockFile) -> str:
    """What the holder wrote; it may just be writing it, and anybody may have written something else."""
    with suppress(OSError, ValueError, TypeError):
        return str(Holder(**json.loads(lock.read())))
    return "held by another program"
