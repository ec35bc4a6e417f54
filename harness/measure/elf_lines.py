"""Which function and source line an address of the firmware belongs to, by its ELF file and the DWARF in it."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.dwarf.dwarfinfo import DWARFInfo
from elftools.dwarf.lineprogram import LineProgram, LineState
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import Symbol, SymbolTableSection

from harness.domain.postmortem import CodePlace
from harness.errors import BuildError
from harness.ports import Family

FindState = Callable[[LineProgram, int, int], LineState | None]
"""Finds the row of a line table for an address, and the end of the function there."""

_PRIMARY_FILE = 1

_BUILD_FOLDER = "./"


@dataclass(frozen=True)
class _Function:
    address: int
    size_bytes: int
    name: str


class CodeMap:
    """Looks addresses up in one ELF file. It is read when the first one is asked for.

    Args:
        elf: the file.
        family: of the chip that it is for, which marks addresses of code in its own way.
    """

    def __init__(self, elf: Path, family: Family) -> None:
        self._elf = elf
        self._family = family

    @cached_property
    def symbols(self) -> dict[str, int]:
        """Values of all symbols with a name.

        Raises:
            BuildError: the file cannot be read, or has none.
        """
        with self._opened() as elf:
            return {symbol.name: symbol["st_value"] for symbol in _symbols(elf, self._elf) if symbol.name}

    def place(self, address: int) -> CodePlace:
        """The function and line of an instruction.

        Raises:
            BuildError: the file cannot be read.
        """
        return self._place(self._family.code_address(address), _state_at)

    def entry(self, address: int) -> CodePlace:
        """A function, by the address that it is called at, and the line where it begins.

        Raises:
            BuildError: the file cannot be read.
        """
        return self._place(self._family.code_address(address), _first_own_state)

    def call(self, return_address: int) -> CodePlace | None:
        """The call that a return address returns from; None for a word that can be no return address.

        Raises:
            BuildError: the file cannot be read.
        """
        site = self._family.call_site(return_address)
        return None if site is None else self._place(site, _state_at)

    def _place(self, address: int, find: FindState) -> CodePlace:
        function = self._function(address)
        if function is None:
            return CodePlace(address)
        file, line = self._line(address, function.address + function.size_bytes, find)
        return CodePlace(address, readable_name(function.name), file, line)

    @cached_property
    def _functions(self) -> list[_Function]:
        with self._opened() as elf:
            found = [
                _Function(self._family.code_address(symbol["st_value"]), symbol["st_size"], symbol.name)
                for symbol in _symbols(elf, self._elf)
                if symbol["st_info"]["type"] == "STT_FUNC" and symbol["st_size"]
            ]
        return sorted(found, key=lambda function: function.address)

    def _function(self, address: int) -> _Function | None:
        index = bisect_right(self._functions, address, key=lambda function: function.address) - 1
        if index < 0:
            return None
        function = self._functions[index]
        return function if address < function.address + function.size_bytes else None

    def _line(self, address: int, end: int, find: FindState) -> tuple[str, int]:
        """File and line; empty and 0 for code without DWARF."""
        with self._opened() as elf:
            if not elf.has_dwarf_info():
                return "", 0
            program = _line_program(elf.get_dwarf_info(), address)
            state = program and find(program, address, end)
            return (_file_name(program, state.file), state.line) if program and state else ("", 0)

    @contextmanager
    def _opened(self) -> Iterator[ELFFile]:
        try:
            with self._elf.open("rb") as stream:
                yield ELFFile(stream)
        except (OSError, ELFError) as error:
            raise BuildError(f"the firmware's ELF file cannot be read: {error}", where=self._elf) from error


def _symbols(elf: ELFFile, path: Path) -> Iterator[Symbol]:
    table = elf.get_section_by_name(".symtab")
    if not isinstance(table, SymbolTableSection):
        raise BuildError("the ELF file has no symbols", where=path)
    symbols: Iterator[Symbol] = table.iter_symbols()
    return symbols


def _line_program(dwarf: DWARFInfo, address: int) -> LineProgram | None:
    """The line table of the compilation unit that an address lies in."""
    ranges = dwarf.get_aranges()
    offset = ranges.cu_offset_at_addr(address) if ranges else None
    return None if offset is None else dwarf.line_program_for_CU(dwarf.get_CU_at(offset))


def _first_own_state(program: LineProgram, start: int, end: int) -> LineState | None:
    """The lowest line of a function that is of the unit's own source file, and not of one that it includes."""
    own = _file_name(program, _PRIMARY_FILE)
    states = (entry.state for entry in program.get_entries() if entry.state is not None)
    rows = [state for state in states if start <= state.address < end and _file_name(program, state.file) == own]
    return min(rows, key=lambda state: state.line, default=None)


def _state_at(program: LineProgram, address: int, _end: int) -> LineState | None:
    """The row of a line table that covers an address."""
    before: LineState | None = None
    for entry in program.get_entries():
        state = entry.state
        if state is None:
            continue
        if before is not None and before.address <= address < state.address:
            return before
        before = None if state.end_sequence else state
    return None


def _file_name(program: LineProgram, number: int) -> str:
    """A file's name with its folder, as the compiler was told; files count from 1 before DWARF 5, from 0 since."""
    since_dwarf5 = program.header["version"] >= 5
    with suppress(IndexError):
        entry = program["file_entry"][number if since_dwarf5 else number - 1]
        folders = program["include_directory"]
        index = entry.dir_index if since_dwarf5 else entry.dir_index - 1
        folder = folders[index].decode(errors="replace") if index >= 0 else "."
        return f"{folder}/{entry.name.decode(errors='replace')}".removeprefix(_BUILD_FOLDER)
    return ""


_ANONYMOUS = "_GLOBAL__N_"
_PART = re.compile(r"L?(\d+)")


def readable_name(symbol: str) -> str:
    """A C++ symbol as people write it, without its arguments; other symbols as they are.

    Template arguments and operators are left out: this is for messages (Itanium C++ ABI, section 5.1).
    """
    plain = symbol.partition(".")[0]  # behind it the compiler says how it has specialised a copy
    if not plain.startswith("_Z"):
        return plain
    rest = plain.removeprefix("_Z").removeprefix("N").lstrip("KVr")
    parts = []
    while match := _PART.match(rest):
        end = match.end() + int(match[1])
        parts.append(rest[match.end() : end])
        rest = rest[end:]
    return "::".join(part for part in parts if not part.startswith(_ANONYMOUS)) or plain
