"""Reads board files: the ones that come with harness, and the user's own."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from pathlib import Path

from harness.domain.board import Board, MemoryRegion
from harness.errors import BoardFileError
from harness.files.fields import Fields
from harness.files.resources import boards_dir
from harness.files.toml import read_toml, refuse_unknown_keys

_KEYS: Mapping[str, frozenset[str]] = {
    "": frozenset({"title", "family", "abi", "units", "machine", "build", "flash", "memory", "serial", "watchdog"}),
    "build": frozenset({"toolchain", "cpu_flags", "defines", "optimization"}),
    "flash": frozenset({"flasher", "packager", "target", "firmware", "model", "connect_mode"}),
    "memory": frozenset({"ram", "stack_ram", "code_ram"}),
    "serial": frozenset({"transport", "baud_rate"}),
    "watchdog": frozenset({"timeout_s"}),
}


_FLASH_REGIONS = ("firmware", "model")
_RAM_REGIONS = ("ram", "stack_ram", "code_ram")


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
    top = read_toml(path, error=BoardFileError)
    for name, known in _KEYS.items():
        refuse_unknown_keys(top.inner(name) if name else top, known)
    _refuse_overlaps(top)
    build, flash, memory, serial = (top.inner(name) for name in ("build", "flash", "memory", "serial"))
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
        firmware_flash=_region(flash.inner("firmware")),
        model_flash=_region_or_none(flash, "model"),
        ram=_region(memory.inner("ram")),
        stack_ram=_region_or_none(memory, "stack_ram"),
        baud_rate=serial.integer("baud_rate", 1200, 12_000_000),
        watchdog_s=top.inner("watchdog").number("timeout_s", 0.1, 26),
        machine=top.text("machine") if top.has("machine") else None,
        defines=build.inner("defines").all_texts() if build.has("defines") else {},
        connect_mode=flash.text("connect_mode") if flash.has("connect_mode") else "halt",
        packager=flash.text("packager") if flash.has("packager") else "flat",
        code_ram=_region_or_none(memory, "code_ram"),
        optimization=build.text("optimization") if build.has("optimization") else "-O2",
    )


def _region_or_none(table: Fields, key: str) -> MemoryRegion | None:
    return _region(table.inner(key)) if table.has(key) else None


def _region(table: Fields) -> MemoryRegion:
    return MemoryRegion(table.integer("start", 0, 2**32 - 1), table.integer("size_bytes", 1, 2**32))


def _refuse_overlaps(top: Fields) -> None:
    flash, memory = top.inner("flash"), top.inner("memory")
    places = [(table, key) for table, keys in ((flash, _FLASH_REGIONS), (memory, _RAM_REGIONS)) for key in keys]
    regions = [(f"{table.place}: {key}", _region(table.inner(key))) for table, key in places if table.has(key)]
    for number, (place, region) in enumerate(regions):
        for other_place, other in regions[:number]:
            if region.start < other.end and other.start < region.end:
                raise BoardFileError(
                    f"overlaps {other_place.rpartition(': ')[2]}",
                    where=place,
                    measured=f"0x{region.start:08X} to 0x{region.end:08X}",
                    expected=f"outside 0x{other.start:08X} to 0x{other.end:08X}",
                )
