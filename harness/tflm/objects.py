"""What an object file says of the machine and the ABI that it was compiled for."""

from __future__ import annotations

import io
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from elftools.common.exceptions import ELFError
from elftools.construct import ConstructError
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

_ARM_SECTION = ".ARM.attributes"
_XTENSA_SECTION = ".xtensa.info"

_SLIM_LTO = "__gnu_lto_slim"

# Tags of "Addenda to, and Errata in, the ABI for the Arm Architecture", section "Build Attributes".
CPU_ARCH = 6
CPU_ARCH_PROFILE = 7
FP_ARCH = 10
FP_NUMBER_MODEL = 23
ENUM_SIZE = 26
HARD_FP_USE = 27
VFP_ARGS = 28
_FILE_SCOPE = 1
_COMPATIBILITY = 32
_TEXT_TAGS = frozenset({4, 5, 65, 67})


@dataclass(frozen=True)
class ObjectFile:
    """An object file.

    Attributes:
        machine: such as `EM_ARM`.
        bits: 32 or 64.
        byte_order: `little` or `big`.
        arm: the numbers among the build attributes of ARM, by tag.
        xtensa: the properties that Xtensa's tools write, such as ABI.
        wanted: symbols that it uses and does not define.
        is_intermediate: whether its code is not there yet: GCC's -flto leaves it to the linker, without symbols.
    """

    machine: str
    bits: int
    byte_order: str
    arm: Mapping[int, int] = field(default_factory=dict)
    xtensa: Mapping[str, str] = field(default_factory=dict)
    wanted: frozenset[str] = frozenset()
    is_intermediate: bool = False


def read_object(data: bytes) -> ObjectFile:
    """Read an object file.

    Raises:
        ValueError: this is none, or it is damaged.
    """
    try:
        elf = ELFFile(io.BytesIO(data))
        if elf["e_type"] != "ET_REL":
            raise ValueError("it is no object file")
        return ObjectFile(
            machine=str(elf["e_machine"]),
            bits=elf.elfclass,
            byte_order="little" if elf.little_endian else "big",
            arm=dict(_arm_attributes(_section(elf, _ARM_SECTION))),
            xtensa=_xtensa_properties(_section(elf, _XTENSA_SECTION)),
            wanted=_wanted(elf),
            is_intermediate=_is_intermediate(elf),
        )
    except (ELFError, ConstructError, struct.error, LookupError, TypeError, AttributeError, ArithmeticError) as error:
        raise ValueError(f"it is no sound object file ({error})") from error


def _section(elf: ELFFile, name: str) -> bytes:
    section = elf.get_section_by_name(name)
    return bytes(section.data()) if section is not None else b""


def _wanted(elf: ELFFile) -> frozenset[str]:
    table = elf.get_section_by_name(".symtab")
    if not isinstance(table, SymbolTableSection):
        return frozenset()
    return frozenset(symbol.name for symbol in table.iter_symbols() if symbol["st_shndx"] == "SHN_UNDEF")


def _is_intermediate(elf: ELFFile) -> bool:
    table = elf.get_section_by_name(".symtab")
    return isinstance(table, SymbolTableSection) and table.get_symbol_by_name(_SLIM_LTO) is not None


def _arm_attributes(data: bytes) -> Iterator[tuple[int, int]]:
    """Tags and values of the file's own attributes.

    pyelftools reads them too, but never ends on a subsection that claims to have no length.
    """
    if not data.startswith(b"A") or data[5:11] != b"aeabi\0":
        return
    scope, size_bytes = struct.unpack_from("<BI", data, 11)
    reader = io.BytesIO(data[16 : 11 + size_bytes] if scope == _FILE_SCOPE else b"")
    while (tag := _uleb128(reader)) is not None:
        if tag == _COMPATIBILITY:
            _uleb128(reader)
        if tag in _TEXT_TAGS or tag == _COMPATIBILITY:
            _skip_text(reader)
        elif (value := _uleb128(reader)) is not None:
            yield tag, value


def _uleb128(reader: io.BytesIO) -> int | None:
    """A number, seven bits a byte, the lowest first; None at the end."""
    value = 0
    for shift in range(0, 64, 7):
        byte = reader.read(1)
        if not byte:
            return None
        value |= (byte[0] & 0x7F) << shift
        if byte[0] < 0x80:
            return value
    raise ValueError("a number of its attributes has no end")


def _skip_text(reader: io.BytesIO) -> None:
    while reader.read(1) not in (b"\0", b""):
        pass


def _xtensa_properties(data: bytes) -> Mapping[str, str]:
    """The lines `NAME=value` of a note of the owner Xtensa_Info (binutils, bfd/elf32-xtensa.c)."""
    text = data.rpartition(b"Xtensa_Info\0")[2].rstrip(b"\0").decode("ascii", "replace")
    return {name: value for name, _, value in (line.partition("=") for line in text.splitlines())}
