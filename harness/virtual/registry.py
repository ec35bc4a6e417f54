"""Registry of running virtual boards: one JSON file per board, in the user's runtime folder.

A board holds a lock (`flock`) on its file for as long as it lives. The kernel lets the lock go when the process ends,
however it ends, so that a file without a lock is a leftover; whoever sees one removes it.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from harness.domain.dut import VIRTUAL_PROBE_PREFIX
from harness.errors import ProbeError, StorageError, UsageError
from harness.files.folders import runtime_folder
from harness.virtual.posix import require_posix

PROBE_ID_PREFIX = VIRTUAL_PROBE_PREFIX
_NAME = re.compile(r"[A-Za-z0-9_-]{1,40}")
_LOCK_PATIENCE_S = 0.2
"""Whoever clears leftovers holds a lock for an instant: a board that starts just then tries again for so long."""


@dataclass(frozen=True)
class Entry:
    """A running virtual board.

    Attributes:
        name: unique among this user's virtual boards.
        machine: what it emulates, for example `stm32f407`.
        pid: its process.
        socket: where its link listens.
        port: its serial port.
        private: it belongs to one run, and no list shows it.
    """

    name: str
    machine: str
    pid: int
    socket: str
    port: str
    private: bool = False

    @property
    def probe_id(self) -> str:
        """The unique id of its debug probe."""
        return PROBE_ID_PREFIX + self.name


def folder() -> Path:
    """The folder of announcements and sockets; made, for this user alone, where it is missing.

    Raises:
        PluginError: this system cannot run virtual boards.
        StorageError: it cannot be made.
    """
    require_posix()
    path = runtime_folder().path / "virtual"
    try:
        path.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise StorageError(f"cannot make the runtime folder: {error.strerror}", where=path) from error
    return path


def check_name(name: str) -> str:
    """`name`, when a virtual board can be called so.

    Raises:
        UsageError: it is empty, too long, or has other characters than letters, digits, `-` and `_`.
    """
    if not _NAME.fullmatch(name):
        raise UsageError(
            "not a name for a virtual board", measured=repr(name), expected="1 to 40 letters, digits, '-' or '_'"
        )
    return name


def socket_path(name: str) -> Path:
    """Where the link of the board called `name` listens."""
    return folder() / f"{name}.sock"


def parse(text: bytes) -> Entry:
    """An entry from its JSON text.

    Raises:
        ProbeError: it is none.
    """
    try:
        return Entry(**json.loads(text))
    except (ValueError, TypeError) as error:
        raise ProbeError("not a virtual board's registry entry", measured=text[:80]) from error


class Announcement:
    """A board's claim to its name, from its start to its end; others see it once it is published.

    Args:
        name: the board's name.

    Raises:
        ProbeError: a board of this name is running.
    """

    def __init__(self, name: str) -> None:
        self._path = _path(name)
        self._descriptor = _lock(self._path, time.monotonic() + _LOCK_PATIENCE_S)
        os.ftruncate(self._descriptor, 0)

    def publish(self, entry: Entry) -> None:
        """Let others find the board, which is ready now."""
        os.write(self._descriptor, json.dumps(asdict(entry)).encode())

    def withdraw(self) -> None:
        """Take the entry away."""
        self._path.unlink(missing_ok=True)
        os.close(self._descriptor)


def running(include_private: bool = False) -> Sequence[Entry]:
    """The virtual boards that run now, by name. Leftovers of dead ones are cleared away."""
    entries = [entry for path in sorted(folder().glob("*.json")) if (entry := _read(path)) is not None]
    return [entry for entry in entries if include_private or not entry.private]


def find(name: str) -> Entry:
    """The running board called `name`, private ones included.

    Raises:
        ProbeError: there is none.
    """
    path = _path(check_name(name))
    entry = _read(path) if path.exists() else None
    if entry is None:
        names = ", ".join(each.name for each in running())
        raise ProbeError(
            f"no virtual board {name!r} is running",
            expected=f"one of {names}" if names else None,
            hint="`harness virtual list` shows those that run, `harness virtual start` starts one",
        )
    return entry


def find_by_probe_id(probe_id: str) -> Entry | None:
    """The running board whose probe has this unique id, private ones included."""
    return next((entry for entry in running(include_private=True) if entry.probe_id == probe_id), None)


def _path(name: str) -> Path:
    return folder() / f"{check_name(name)}.json"


def _read(path: Path) -> Entry | None:
    """The entry in a file; None, and the file removed, when no living board holds it."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    try:
        if _try_lock(descriptor):
            _clear_leftover(path, descriptor)
            return None
        return parse(os.read(descriptor, 1 << 16))
    except ProbeError:
        return None  # not filled yet, or by another version
    finally:
        os.close(descriptor)


def _lock(path: Path, deadline: float) -> int:
    """Open and lock an entry's file."""
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        locked = _try_lock(descriptor)
        if locked and _is_same(path, descriptor):
            return descriptor
        os.close(descriptor)
        if not locked and time.monotonic() > deadline:
            raise ProbeError("a virtual board of this name is running", where=path.stem, hint="harness virtual list")
        time.sleep(0.001)


def _try_lock(descriptor: int) -> bool:
    import fcntl  # noqa: PLC0415 - pyOCD loads this module on every system; `folder` has made sure of this one

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _is_same(path: Path, descriptor: int) -> bool:
    """Whether the file behind a descriptor still is the one of that name (its last owner may have removed it)."""
    try:
        return path.stat().st_ino == os.fstat(descriptor).st_ino
    except FileNotFoundError:
        return False


def _clear_leftover(path: Path, descriptor: int) -> None:
    """Remove the entry of a dead board, and the socket that it could not remove any more."""
    if _is_same(path, descriptor):
        socket_path(path.stem).unlink(missing_ok=True)
        path.unlink()
