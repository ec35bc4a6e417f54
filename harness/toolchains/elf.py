"""What harness reads from ELF files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from harness.domain.firmware import FlashSegment
from harness.errors import BuildError

# What an erased byte of NOR flash reads as; gaps between segments are left like that.
_ERASED = b"\xff"


def read_symbols(elf: Path) -> Mapping[str, int]:
    """Values of the global symbols, by name."""
    with elf.open("rb") as stream:
        table = ELFFile(stream).get_section_by_name(".symtab")
        if not isinstance(table, SymbolTableSection):
            raise BuildError("the ELF file has no symbols", where=elf)
        return {
            symbol.name: symbol["st_value"]
            for symbol in table.iter_symbols()
            if symbol["st_info"]["bind"] == "STB_GLOBAL" and symbol["st_shndx"] != "SHN_UNDEF"
        }


def read_flash_image(elf: Path) -> FlashSegment:
    """The bytes of all load segments, at the addresses that they are loaded from."""
    pieces = read_load_segments(elf)
    if not pieces:
        raise BuildError("the ELF file has nothing for the flash", where=elf)
    start, end = pieces[0].address, max(piece.end for piece in pieces)
    return FlashSegment(address=start, data=_overlaid(pieces, start, end - start))


def read_contents(elf: Path, address: int, size_bytes: int) -> bytes:
    """What lies at an address once all load segments are where they are loaded from; gaps as `read_flash_image`."""
    return _overlaid(read_load_segments(elf), address, size_bytes)


def read_load_segments(elf: Path) -> list[FlashSegment]:
    """What is loaded, lowest address first."""
    with elf.open("rb") as stream:
        pieces = [
            FlashSegment(segment["p_paddr"], segment.data())
            for segment in ELFFile(stream).iter_segments()
            if segment["p_type"] == "PT_LOAD" and segment["p_filesz"] > 0
        ]
    return sorted(pieces, key=lambda piece: piece.address)


def _overlaid(pieces: Sequence[FlashSegment], start: int, size_bytes: int) -> bytes:
    """`size_bytes` bytes from `start`, of the pieces where they are."""
    memory = bytearray(_ERASED * size_bytes)
    for piece in pieces:
        first, last = max(piece.address, start), min(piece.end, start + size_bytes)
        if first < last:
            memory[first - start : last - start] = piece.data[first - piece.address : last - piece.address]
    return bytes(memory)
