"""What QEMU loads: the flashed image's segments, the shim below them, the flash, and the page table that guards all."""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping, Sequence

from harness.domain.board import MemoryRegion
from harness.domain.firmware import FlashSegment
from harness.virtual.esp32 import elf_file, memory_map
from harness.virtual.esp32.image import Image

SHIM_START = 0x4F800000
"""Where the shim lies; it runs there through a window that it opens first (shim.ld)."""
_FLASH_COPY_START = 0x30000000
_PAGE_TABLE_START = 0x4FC00000
_DATA_VIEW_OFFSET = 0x0E000000
"""From a code address to where the data side's copy of it lies."""
_PAGE_BYTES = 4096
_READ_ONLY, _READ_WRITE, _PROHIBITED = 0, 3, 15

_WSR_VECBASE_RSYNC = re.compile(rb"([\x00-\xf0])\xe7\x13(?=\x10\x20\x00)", re.DOTALL)
_WSR_MISC1 = b"\xf5\x13"


def elf(image: Image, flash: bytes, shim: bytes, registers: Mapping[int, int], cache_faults: int = 0) -> bytes:
    """An ELF file that starts the image under the shim.

    Args:
        image: what the ROM has loaded.
        flash: what the cache shows; its size is a power of two.
        shim: what `shim.assembled` gave.
        registers: what peripheral registers hold at the start, by address.
        cache_faults: what is broken about the cache: bits of `CacheFault`.
    """
    words = (image.entry, len(flash) // memory_map.MMU_PAGE_BYTES - 1, cache_faults)
    loaded = [
        FlashSegment(SHIM_START, _with_words(shim, words)),
        FlashSegment(_PAGE_TABLE_START, page_table()),
        FlashSegment(_FLASH_COPY_START, flash),
    ]
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
                access = _READ_ONLY if page in memory_map.CACHE_PAGES else _READ_WRITE
                struct.pack_into("<I", entries, page // _PAGE_BYTES * 4, page | access)
    return bytes(entries)


def _with_words(shim: bytes, words: Sequence[int]) -> bytes:
    """The shim, the words behind its first instruction set."""
    told = struct.pack(f"<{len(words)}I", *words)
    return shim[:4] + told + shim[4 + len(told) :]


def _wsr_misc1(match: re.Match[bytes]) -> bytes:
    return match[1] + _WSR_MISC1
