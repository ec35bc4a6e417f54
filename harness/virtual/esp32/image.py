"""The application image in flash, as the ROM reads it.

Format: esptool's documentation, "Firmware Image Format". The ROM's own checks are the magic byte, the number of
segments and the checksum; where silicon would hang or crash (a segment outside of RAM, an entry that is no code), this
refuses, too, and says why.
"""

from __future__ import annotations

import functools
import hashlib
import operator
import struct
from collections.abc import Iterator
from dataclasses import dataclass

from harness.domain.firmware import FlashSegment
from harness.errors import FlashError
from harness.virtual.esp32 import memory_map

MAGIC = 0xE9
MAX_SEGMENTS = 16
_HEADER = struct.Struct("<BBBBI15xB")
"""Magic, segments, SPI mode, SPI speed and size, entry; 15 bytes that the ROM skips; whether a hash follows."""
_SEGMENT_HEADER = struct.Struct("<II")
_CHECKSUM_SEED = 0xEF
_HASH_BYTES = 32


class RefusedImageError(FlashError):
    """What is in flash cannot be started.

    Attributes:
        rom_text: what silicon prints about it.
        repeated: how often, until its watchdog ends that.
    """

    def __init__(
        self, what: str, rom_text: str, *, offset: int, measured: object = None, expected: object = None
    ) -> None:
        super().__init__(what, where=f"flash offset {offset:#x}", measured=measured, expected=expected)
        self.rom_text = rom_text
        self.repeated = 6 if rom_text.startswith("invalid header") else 1


@dataclass(frozen=True)
class Image:
    """An image that the ROM starts.

    Attributes:
        entry: where it starts.
        spi_mode: 0 QIO, 1 QOUT, 2 DIO, 3 DOUT.
        segments: what goes into RAM, in the order of the file.
    """

    entry: int
    spi_mode: int
    segments: tuple[FlashSegment, ...]


def parse(flash: bytes | bytearray | memoryview, offset: int = memory_map.BOOT_OFFSET) -> Image:
    """Read the image at `offset`.

    Raises:
        RefusedImageError: there is none, it is damaged, or it does not fit this chip.
    """
    magic, count, mode, _, entry, has_hash = _HEADER.unpack_from(flash, offset)
    if magic != MAGIC or not 0 < count <= MAX_SEGMENTS:
        word = int.from_bytes(flash[offset : offset + 4], "little")
        raise RefusedImageError(
            "no image", f"invalid header: 0x{word:08x}", offset=offset, measured=f"{word:#010x}", expected="magic 0xe9"
        )
    found = list(_segments(flash, offset + _HEADER.size, count))
    segments = [segment for segment, _ in found]
    checksum_at = found[-1][1] | 15
    _check_checksum(segments, flash[checksum_at], checksum_at)
    if has_hash:
        _check_hash(flash, offset, checksum_at + 1)
    loaded = tuple(segment for segment in segments if segment.address)
    _check_addresses(loaded, entry, offset)
    return Image(entry, mode, loaded)


def _segments(flash: bytes | bytearray | memoryview, position: int, count: int) -> Iterator[tuple[FlashSegment, int]]:
    """Each segment, and where it ends in flash."""
    for _ in range(count):
        if position + _SEGMENT_HEADER.size >= len(flash):
            raise RefusedImageError("a segment lies outside of the flash", "flash read err, 1000", offset=position)
        address, size = _SEGMENT_HEADER.unpack_from(flash, position)
        start = position + _SEGMENT_HEADER.size
        position = start + size
        if position | 15 >= len(flash):
            raise RefusedImageError(
                "a segment is longer than the flash", "flash read err, 1000", offset=start, measured=f"{size} bytes"
            )
        yield FlashSegment(address, bytes(flash[start:position])), position


def _check_checksum(segments: list[FlashSegment], stored: int, offset: int) -> None:
    computed = _CHECKSUM_SEED
    for segment in segments:
        computed = functools.reduce(operator.xor, segment.data, computed)
    if computed != stored:
        raise RefusedImageError(
            "the image's checksum is wrong",
            f"csum err:0x{computed:x}!=0x{stored:x}",
            offset=offset,
            measured=f"{computed:#04x}",
            expected=f"{stored:#04x}",
        )


def _check_hash(flash: bytes | bytearray | memoryview, start: int, end: int) -> None:
    stored = bytes(flash[end : end + _HASH_BYTES])
    computed = hashlib.sha256(flash[start:end]).digest()
    if computed != stored:
        raise RefusedImageError(
            "the image's SHA-256 is wrong", "hash err", offset=end, measured=computed.hex(), expected=stored.hex()
        )


def _check_addresses(segments: tuple[FlashSegment, ...], entry: int, offset: int) -> None:
    for segment in segments:
        size = len(segment.data)
        fits = any(region.holds(segment.address, size) for region in memory_map.LOADABLE)
        if memory_map.CACHE_RAM.start < segment.end and segment.address < memory_map.CACHE_RAM.end:
            raise RefusedImageError(
                "a segment goes into the RAM that is the flash cache while the ROM loads",
                "ets_main.c 371",
                offset=offset,
                measured=f"{segment.address:#010x}, {size} bytes",
                expected="data RAM, or code RAM from 0x40078000",
            )
        if not fits or (segment.address < memory_map.ROM_DATA.end and segment.end > memory_map.ROM_DATA.start):
            raise RefusedImageError(
                "a segment goes where the ROM cannot load it; flash is mapped by what the ROM starts",
                "ets_main.c 371",
                offset=offset,
                measured=f"{segment.address:#010x}, {size} bytes",
                expected="data RAM or code RAM",
            )
    if not any(region.holds(entry) for region in memory_map.CODE):
        raise RefusedImageError(
            "the entry is no code address", "ets_main.c 371", offset=offset, measured=f"{entry:#010x}"
        )
