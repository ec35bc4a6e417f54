"""What QEMU loads: the flashed image's segments, the shim below them, and the page table that guards them."""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping, Sequence

from harness.domain.board import MemoryRegion
from harness.domain.firmware import FlashSegment
from harness.virtual.esp32 import elf_file, memory_map
from harness.virtual.esp32.image import Image

SHIM_START = 0x4F800000
SHIM_LINKED_AT = 0xAF800000
"""Where the shim runs: at its own address, through the window that it opens first."""
_PAGE_TABLE_START = 0x4FC00000
_DATA_VIEW_OFFSET = 0x0E000000
"""From a code address to where the data side's copy of it lies."""
_PAGE_BYTES = 4096
_READ_WRITE, _PROHIBITED = 3, 15

_WSR_VECBASE_RSYNC = re.compile(rb"([\x00-\xf0])\xe7\x13(?=\x10\x20\x00)", re.DOTALL)
_WSR_MISC1 = b"\xf5\x13"


def elf(image: Image, shim: bytes, registers: Mapping[int, int]) -> bytes:
    """An ELF file that starts the image under the shim.

    Args:
        image: what was flashed.
        shim: the assembled `shim.s`.
        registers: what peripheral registers hold at the start, by address.
    """
    loaded = [FlashSegment(SHIM_START, _with_entry(shim, image.entry)), FlashSegment(_PAGE_TABLE_START, page_table())]
    loaded += [FlashSegment(address, struct.pack("<I", value)) for address, value in registers.items()]
    for segment in image.segments:
        if any(region.holds(segment.address) for region in memory_map.CODE):
            loaded.append(FlashSegment(segment.address, redirect_vectors(segment.data)))
            loaded.append(FlashSegment(segment.address + _DATA_VIEW_OFFSET, segment.data))
        else:
            loaded.append(segment)
    return elf_file.encode(SHIM_START, loaded)


def redirect_vectors(code: bytes) -> bytes:
    """Code that hands its exception vectors to the shim: `WSR.VECBASE` in front of an `RSYNC` becomes `WSR.MISC1`.

    The shim's own vectors must stay in force; it passes on to the firmware's what is not its own. Only instruction
    fetches see the difference.
    """
    return _WSR_VECBASE_RSYNC.sub(lambda match: _wsr_misc1(match) if not match[1][0] & 0x0F else match[0], code)


def page_table() -> bytes:
    """The data side's page table, one word a page; prohibited is what no ESP32 has, and what the shim guards."""
    entries = bytearray(struct.pack("<I", _PROHIBITED) * (1 << 20))
    readable: Sequence[MemoryRegion] = (
        memory_map.PERIPHERALS,
        memory_map.RTC_FAST_DATA,
        memory_map.DATA_RAM,
    )
    for region in readable:
        for page in range(region.start, region.end, _PAGE_BYTES):
            if page not in memory_map.EFFECTIVE_PAGES:
                struct.pack_into("<I", entries, page // _PAGE_BYTES * 4, page | _READ_WRITE)
    return bytes(entries)


def _with_entry(shim: bytes, entry: int) -> bytes:
    """The shim's second word is where it jumps to."""
    return shim[:4] + struct.pack("<I", entry) + shim[8:]


def _wsr_misc1(match: re.Match[bytes]) -> bytes:
    return match[1] + _WSR_MISC1
