"""Reader of board files: the ones that come with harness, and the user's own.

A file may name another board as its `base` and then hold only what differs: tables are merged key by key, anything
else replaces what the base says. Each file of such a chain is a sound board by itself.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from harness.domain.board import Board, MemoryRegion
from harness.errors import BoardFileError
from harness.files.fields import Fields
from harness.files.resources import boards_dir
from harness.files.toml import read_toml, refuse_unknown_keys

_TABLES = ("build", "flash", "memory", "serial", "watchdog")
_KEYS: Mapping[str, frozenset[str]] = {
    "": frozenset({"base", "title", "family", "abi", "units", "machine", *_TABLES}),
    "build": frozenset({"toolchain", "cpu_flags", "defines", "optimization"}),
    "flash": frozenset({"flasher", "packager", "target", "firmware", "mapped", "model", "connect_mode"}),
    "memory": frozenset({"ram", "stack_ram", "code_ram"}),
    "serial": frozenset({"transport", "baud_rate"}),
    "watchdog": frozenset({"timeout_s"}),
}

_FLASH_REGIONS = ("firmware", "mapped", "model")
_MAPPED_REGIONS = ("mapped", "model")
_PAGE_BYTES = 0x10000
_RAM_REGIONS = ("ram", "stack_ram", "code_ram")
_REGION_KEYS = ("start", "size_bytes")


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
    return read_board(_find(board))


def read_board(path: Path) -> Board:
    """Read one board file, and those that it is based on.

    Raises:
        BoardFileError: one of them is no TOML, or a key is missing, unknown or of the wrong kind; there is no such
            base, or the bases go in a circle.
    """
    *upper, whole = _with_bases(path)
    board = _board(path, whole)
    for own in reversed(upper):
        whole = replace(own, values=_merged(whole.values, own.values))
        board = _board(path, whole)
    return board


def _find(board: str, where: str = "") -> Path:
    """The file of a board; `where` says which file names it, if one does."""
    path = Path(board) if board.endswith(".toml") else boards_dir() / f"{board}.toml"
    if path.suffix == ".toml" and path.is_file() and (board.endswith(".toml") or board in board_ids()):
        return path
    near = difflib.get_close_matches(board, board_ids(), n=3, cutoff=0.4)
    raise BoardFileError(
        f"unknown board {board!r}",
        where=where,
        expected=f"one of {', '.join(board_ids())}, or the path of a .toml file",
        hint=f"did you mean {' or '.join(near)}?" if near else "list them with: harness boards",
    )


def _with_bases(path: Path) -> list[Fields]:
    """What a board file holds, then what the file that it is based on holds, and so on."""
    chain = [path]
    files = [_read_file(path)]
    while files[-1].has("base"):
        base = _base(chain[-1], files[-1])
        if any(base.samefile(file) for file in chain):
            raise BoardFileError(
                "boards are based on each other in a circle",
                where=f"{chain[-1]}: base",
                measured=" → ".join(file.name for file in [*chain, base]),
                expected="a board that is complete without this one",
            )
        chain.append(base)
        files.append(_read_file(base))
    return files


def _base(path: Path, top: Fields) -> Path:
    """The file that `path` is based on: an id, or a path relative to the file's own folder."""
    name = top.text("base")
    return _find(str(path.parent / name) if name.endswith(".toml") else name, f"{top.place}: base")


def _read_file(path: Path) -> Fields:
    top = read_toml(path, error=BoardFileError)
    for name, known in _KEYS.items():
        if not name or top.has(name):
            refuse_unknown_keys(top.inner(name) if name else top, known)
    for name, regions in (("flash", _FLASH_REGIONS), ("memory", _RAM_REGIONS)):
        for region in regions:
            if top.has(name) and top.inner(name).has(region):
                refuse_unknown_keys(top.inner(name).inner(region), _REGION_KEYS)
    return top


def _merged(base: Mapping[str, object], own: Mapping[str, object]) -> dict[str, object]:
    merged = {**base, **own}
    for key, value in own.items():
        below = base.get(key)
        if isinstance(value, dict) and isinstance(below, dict):
            merged[key] = _merged(below, value)
    return merged


def _board(path: Path, top: Fields) -> Board:
    _refuse_overlaps(top)
    _refuse_unaligned_pages(top.inner("flash"))
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
        model_flash=_region(flash.inner("model")),
        ram=_region(memory.inner("ram")),
        stack_ram=_region_or_none(memory, "stack_ram"),
        baud_rate=serial.integer("baud_rate", 1200, 12_000_000),
        watchdog_s=top.inner("watchdog").number("timeout_s", 0.1, 26),
        machine=top.text("machine") if top.has("machine") else None,
        defines=build.inner("defines").all_texts() if build.has("defines") else {},
        connect_mode=flash.text("connect_mode") if flash.has("connect_mode") else "halt",
        packager=flash.text("packager") if flash.has("packager") else "flat",
        mapped_flash=_region_or_none(flash, "mapped"),
        code_ram=_region_or_none(memory, "code_ram"),
        optimization=build.text("optimization") if build.has("optimization") else "-O2",
    )


def _region_or_none(table: Fields, key: str) -> MemoryRegion | None:
    return _region(table.inner(key)) if table.has(key) else None


def _region(table: Fields) -> MemoryRegion:
    return MemoryRegion(table.integer("start", 0, 2**32 - 1), table.integer("size_bytes", 1, 2**32))


def _refuse_unaligned_pages(flash: Fields) -> None:
    """Where flash is read in place through a cache, that maps whole pages."""
    for key in _MAPPED_REGIONS if flash.has("mapped") else ():
        start = flash.inner(key).integer("start", 0, 2**32 - 1)
        if start % _PAGE_BYTES:
            raise BoardFileError(
                "begins inside a page, and flash is mapped by whole pages of 64 KB",
                where=f"{flash.inner(key).place}: start",
                measured=f"{start:#x}",
                expected=f"a multiple of {_PAGE_BYTES:#x}, such as {-(-start // _PAGE_BYTES) * _PAGE_BYTES:#x}",
            )


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
