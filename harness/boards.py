"""Reads board files: the ones that come with harness, and the user's own."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from harness.domain.board import Board, MemoryRegion
from harness.errors import BoardFileError
from harness.resources import boards_dir

_T = TypeVar("_T")
_FILE_LIMIT_BYTES = 64 * 1024
_KEYS: Mapping[str, frozenset[str]] = {
    "": frozenset({"title", "family", "abi", "units", "machine", "build", "flash", "memory", "serial", "watchdog"}),
    "build": frozenset({"toolchain", "cpu_flags", "defines"}),
    "flash": frozenset({"flasher", "target", "firmware", "model"}),
    "memory": frozenset({"ram", "stack_ram"}),
    "serial": frozenset({"transport", "baud_rate"}),
    "watchdog": frozenset({"timeout_s"}),
}


def board_ids() -> list[str]:
    """The ids of the boards that come with harness, sorted."""
    return sorted(path.stem for path in boards_dir().glob("*.toml"))


def load_board(board: str) -> Board:
    """The board called `board`.

    Args:
        board: an id, or the path of a board file (ends in `.toml`).

    Raises:
        BoardFileError: no such board (the nearest ids are named), or a broken file (file, key, what was expected).
    """
    path = Path(board) if board.endswith(".toml") else boards_dir() / f"{board}.toml"
    if path.suffix == ".toml" and path.is_file() and (board.endswith(".toml") or board in board_ids()):
        return read_board(path)
    near = difflib.get_close_matches(board, board_ids(), n=3, cutoff=0.4)
    raise BoardFileError(
        f"unknown board {board!r}",
        expected=f"one of {', '.join(board_ids())}, or the path of a .toml file",
        hint=f"did you mean {' or '.join(near)}?" if near else "list them with: harness boards",
    )


def read_board(path: Path) -> Board:
    """Read one board file.

    Raises:
        BoardFileError: it is no TOML, or a key is missing, unknown or of the wrong kind.
    """
    top = _Table(path, "", _read(path))
    build, flash, memory, serial = (top.table(name) for name in ("build", "flash", "memory", "serial"))
    return Board(
        id=path.stem,
        title=top.text("title"),
        family=top.text("family"),
        abi=top.text("abi"),
        toolchain=build.text("toolchain"),
        flasher=flash.text("flasher"),
        transport=serial.text("transport"),
        units=top.text("units"),
        cpu_flags=build.texts("cpu_flags"),
        flash_target=flash.text("target"),
        firmware_flash=flash.region("firmware"),
        model_flash=flash.region("model"),
        ram=memory.region("ram"),
        stack_ram=memory.region("stack_ram") if memory.has("stack_ram") else None,
        baud_rate=serial.number("baud_rate", 1200, 12_000_000),
        watchdog_s=top.table("watchdog").seconds("timeout_s"),
        machine=top.text("machine") if top.has("machine") else None,
        defines=build.text_table("defines") if build.has("defines") else {},
    )


def _read(path: Path) -> Mapping[str, object]:
    try:
        with path.open("rb") as file:
            text = file.read(_FILE_LIMIT_BYTES + 1)
        if len(text) > _FILE_LIMIT_BYTES:
            raise BoardFileError("this is too large for a board file", where=path, expected="at most 64 KB")
        return tomllib.loads(text.decode("utf-8"))
    except OSError as error:
        raise BoardFileError(f"the board file cannot be read: {error.strerror}", where=path) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BoardFileError(f"this is no TOML: {error}", where=path) from error


@dataclass(frozen=True)
class _Table:
    """A table of a board file, which names file and key when something is wrong with it."""

    path: Path
    name: str
    values: Mapping[str, object]

    def __post_init__(self) -> None:
        unknown = sorted(set(self.values) - _KEYS.get(self.name, frozenset(self.values)))
        if unknown:
            near = difflib.get_close_matches(unknown[0], _KEYS[self.name], n=1)
            raise BoardFileError(
                "unknown key",
                where=self._at(unknown[0]),
                expected=", ".join(sorted(_KEYS[self.name])),
                hint=f"did you mean {near[0]}?" if near else "",
            )

    def has(self, key: str) -> bool:
        return key in self.values

    def text(self, key: str) -> str:
        value = self._value(key, "a text", str)
        if not value:
            raise self._wrong(key, "a text that is not empty", value)
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        values = self._value(key, "a list of texts", list)
        if not all(isinstance(value, str) for value in values):
            raise self._wrong(key, "a list of texts", values)
        return tuple(values)

    def text_table(self, key: str) -> Mapping[str, str]:
        values = self._value(key, "a table of texts", dict)
        if not all(isinstance(value, str) for value in values.values()):
            raise self._wrong(key, "a table of texts", values)
        return dict(values)

    def number(self, key: str, least: int, most: int) -> int:
        value = self._value(key, "a whole number", int)
        if isinstance(value, bool) or not least <= value <= most:
            raise self._wrong(key, f"a whole number from {least} to {most}", value)
        return value

    def seconds(self, key: str) -> float:
        value = self.values.get(key)
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0.1 <= value <= 26:
            raise self._wrong(key, "seconds, 0.1 to 26", value)
        return float(value)

    def table(self, key: str) -> _Table:
        return _Table(self.path, f"{self.name}.{key}".lstrip("."), self._value(key, "a table", dict))

    def region(self, key: str) -> MemoryRegion:
        table = self.table(key)
        return MemoryRegion(table.number("start", 0, 2**32 - 1), table.number("size_bytes", 1, 2**32))

    def _value(self, key: str, expected: str, kind: type[_T]) -> _T:
        value = self.values.get(key)
        if not isinstance(value, kind):
            raise self._wrong(key, expected, value)
        return value

    def _wrong(self, key: str, expected: str, found: object) -> BoardFileError:
        return BoardFileError(
            "missing key" if key not in self.values else "wrong value",
            where=self._at(key),
            measured=None if key not in self.values else repr(found)[:60],
            expected=expected,
        )

    def _at(self, key: str) -> str:
        return f"{self.path}: [{self.name}] {key}" if self.name else f"{self.path}: {key}"
