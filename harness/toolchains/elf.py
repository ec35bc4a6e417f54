"""What harness reads from ELF files."""

from __future__ import annotations

from collections.abc import Mapping
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
    with elf.open("rb") as stream:
        pieces = sorted(
            (segment["p_paddr"], segment.data())
            for segment in ELFFile(stream).iter_segments()
            if segment["p_type"] == "PT_LOAD" and segment["p_filesz"] > 0
        )
    if not pieces:
        raise BuildError("the ELF file has nothing for the flash", where=elf)
    start = pieces[0][0]
    image = bytearray()
    for address, data in pieces:
        image += _ERASED * (address - start - len(image)) + data
    return FlashSegment(address=start, data=bytes(image))
