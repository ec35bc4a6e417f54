"""The folders that harness keeps on a machine. Each is worked out here alone, so that every process finds the same.

folder    holds                                          named by
cache     what can be made anew: sources, builds         XDG_CACHE_HOME
data      the flash of virtual boards that were stopped  XDG_DATA_HOME
state     what was found after a device had died         XDG_STATE_HOME
runtime   the virtual boards that run now                XDG_RUNTIME_DIR
"""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from harness.errors import StorageError

_NAME = "harness"
_PRIVATE = 0o700
_WRITABLE_FOR_OTHERS = 0o022
_RUN_USER = Path("/run/user")


def cache_folder() -> Path:
    """Where the cache lies; it need not exist yet.

    Raises:
        StorageError: nothing says where the user's home is.
    """
    return _of_user(platformdirs.user_cache_path, "XDG_CACHE_HOME")


def data_folder() -> Path:
    """Where lasting data lie; raises as `cache_folder`."""
    return _of_user(platformdirs.user_data_path, "XDG_DATA_HOME")


def state_folder() -> Path:
    """Where the state lies; raises as `cache_folder`."""
    return _of_user(platformdirs.user_state_path, "XDG_STATE_HOME")


def _of_user(find: Callable[..., Path], variable: str) -> Path:
    try:
        return find(_NAME, appauthor=False)
    except RuntimeError as error:  # an account without a home, as in containers
        raise StorageError(
            "there is no home folder", hint=f"set {variable}, or HOME, to a folder that can be written"
        ) from error


@dataclass(frozen=True)
class RuntimeFolder:
    """The folder for what lives no longer than the user's session.

    Attributes:
        path: it; made, for this user alone.
        note: why it is not where XDG_RUNTIME_DIR says; empty when it is, or when that is not set.
    """

    path: Path
    note: str


def runtime_folder() -> RuntimeFolder:
    """Make and name the runtime folder.

    It lies in XDG_RUNTIME_DIR, which is made where it is missing; else in /run/user, or among the temporary files.
    Every process of a user comes to the same folder, the first as well as all that follow.

    Raises:
        StorageError: none of them can be used.
    """
    problems: list[str] = []
    for parent, is_made in _runtime_parents():
        problem = _unusable(parent, is_made=is_made)
        path = parent / _NAME
        problem = problem or _unusable(path, is_made=True)
        if not problem:
            return RuntimeFolder(path, f"{problems[0]}: {path} is used instead" if problems else "")
        if is_made:
            problems.append(problem)
    raise StorageError(
        f"there is no runtime folder: {'; '.join(problems)}", hint="let XDG_RUNTIME_DIR name a folder of your own"
    )


def _runtime_parents() -> Iterator[tuple[Path, bool]]:
    """The folders to try, and whether a missing one is made."""
    named = Path(os.environ.get("XDG_RUNTIME_DIR", ""))
    if named.is_absolute():
        yield named.resolve(), True
    yield _RUN_USER / str(os.geteuid()), False
    yield Path(tempfile.gettempdir()) / f"{_NAME}-{os.geteuid()}", True


def _unusable(path: Path, *, is_made: bool) -> str:
    """Why a folder cannot be trusted with sockets; empty when it can."""
    try:
        if is_made:
            path.mkdir(mode=_PRIVATE, parents=True, exist_ok=True)
        found = path.lstat()
    except OSError as error:
        return f"{path} cannot be made ({error.strerror})" if is_made else f"{path} is missing"
    if not stat.S_ISDIR(found.st_mode):
        return f"{path} is no folder"
    if found.st_uid != os.geteuid():
        return f"{path} belongs to another user"
    if found.st_mode & _WRITABLE_FOR_OTHERS:
        return f"{path} can be written by others"
    return "" if os.access(path, os.W_OK | os.X_OK) else f"{path} cannot be written"


def machine_folder() -> Path:
    """The folder that all users of this machine share for locks: no two of them may come to different ones.

    HARNESS_LOCK_FOLDER names it, where machines or containers share what is on one bench. Otherwise it is a sticky
    folder of root's, in which everybody makes files, but nobody removes another's. Where there is none, each user's own
    state folder has to do.
    """
    if named := os.environ.get("HARNESS_LOCK_FOLDER"):
        return Path(named)
    if os.name != "posix":
        return Path(os.environ.get("PROGRAMDATA", r"C:\ProgramData")) / _NAME / "locks"
    shared = (Path(name) for name in _SHARED)
    return next((path for path in shared if _is_shared(path)), None) or state_folder() / "locks"


_SHARED = ("/run/lock", "/var/lock", "/tmp", "/private/tmp", "/var/tmp")  # noqa: S108 - root's, and checked


def _is_shared(path: Path) -> bool:
    try:
        found = path.lstat()
    except OSError:
        return False
    wanted = stat.S_ISVTX | stat.S_IWOTH | stat.S_IXOTH
    return stat.S_ISDIR(found.st_mode) and found.st_uid == 0 and found.st_mode & wanted == wanted
