"""Scanner of C++ sources: which headers each includes, directly and through others, and what all of it hashes to.

A compiler finds the same, but only by compiling. Whatever follows an `#if` counts too, so that the hash covers at least
what the compiler reads.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.errors import SourceError
from harness.files.cache import fingerprint
from harness.files.safe import read_bounded
from harness.tflm.cpp_text import includes, without_comments

_LIMIT_BYTES = 32 * 1024 * 1024
_LIMIT_FILES = 20_000


@dataclass(frozen=True)
class Missing:
    """A header that is not there.

    Attributes:
        name: as the `#include` names it.
        included_by: the file that does.
    """

    name: str
    included_by: Path


@dataclass(frozen=True)
class _Scanned:
    """One file: its name without this machine's folders, its hash, and what it includes."""

    name: str
    digest: str
    needed: tuple[Path, ...]
    excused: tuple[Path, ...]
    missing: tuple[Missing, ...]


class IncludeScanner:
    """Reads each file once, however many sources include it.

    Args:
        folders: include folders, in the order in which the compiler searches them.
    """

    def __init__(self, folders: Sequence[Path]) -> None:
        self._folders = tuple(folders)
        self._resolved = tuple(folder.resolve() for folder in folders)
        self._scanned: dict[Path, _Scanned] = {}
        self._found: dict[tuple[Path, str, bool], Path | None] = {}

    def hash_of(self, source: Path) -> str:
        """SHA-256 over a source and all that it includes, their names and order included.

        Raises:
            SourceError: a file cannot be read, or there are too many.
        """
        files = [self._scan(path) for path in self._reached(source, with_excused=True)]
        return fingerprint(*(part for file in files for part in (file.name, file.digest)))

    def missing_of(self, source: Path) -> tuple[Missing, ...]:
        """The quoted headers that a source needs without an `#if` around them, and that are in no folder.

        Raises:
            SourceError: as `hash_of`.
        """
        reached = self._reached(source, with_excused=False)
        return tuple(missing for path in reached for missing in self._scan(path).missing)

    def _reached(self, source: Path, *, with_excused: bool) -> list[Path]:
        """The source first, then what it includes, in the order of discovery."""
        reached = {source.resolve(): None}
        todo = [source.resolve()]
        while todo:
            file = self._scan(todo.pop())
            for path in (*file.needed, *(file.excused if with_excused else ())):
                if path not in reached:
                    reached[path] = None
                    todo.append(path)
        return list(reached)

    def _scan(self, path: Path) -> _Scanned:
        if path not in self._scanned:
            if len(self._scanned) >= _LIMIT_FILES:
                raise SourceError("these are too many files", where=path, expected=f"at most {_LIMIT_FILES:,}")
            self._scanned[path] = self._read(path)
        return self._scanned[path]

    def _read(self, path: Path) -> _Scanned:
        data = read_bounded(path, _LIMIT_BYTES, SourceError)
        needed: list[Path] = []
        excused: list[Path] = []
        missing: list[Missing] = []
        for include in includes(without_comments(data.decode("utf-8", "replace"))):
            found = self._find(path.parent, include.name, include.quoted)
            if found is not None:
                (excused if include.conditional else needed).append(found)
            elif include.quoted and not include.conditional:
                missing.append(Missing(include.name, path))
        digest = hashlib.sha256(data).hexdigest()
        return _Scanned(self._name(path), digest, tuple(needed), tuple(excused), tuple(missing))

    def _find(self, beside: Path, name: str, quoted: bool) -> Path | None:
        """The file that an `#include` means, resolved: `..` and links give one file many names."""
        key = (beside, name, quoted) if quoted else (Path(), name, quoted)
        if key not in self._found:
            places = ((beside,) if quoted else ()) + self._folders
            found = next((place / name for place in places if _is_file(place / name)), None)
            self._found[key] = found.resolve() if found else None
        return self._found[key]

    def _name(self, path: Path) -> str:
        inside = [(number, folder) for number, folder in enumerate(self._resolved) if path.is_relative_to(folder)]
        return f"{inside[0][0]}/{path.relative_to(inside[0][1]).as_posix()}" if inside else path.name


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # a name that no file can have, or links in a circle
        return False
