"""Writer of the simplest ELF file that an emulator loads: program headers and their bytes."""

from __future__ import annotations

import struct
from collections.abc import Sequence

from harness.domain.firmware import FlashSegment

_IDENTITY = b"\x7fELF\x01\x01\x01".ljust(16, b"\0")
_HEADER = struct.Struct("<16sHHIIIIIHHHHHH")
_PROGRAM_HEADER = struct.Struct("<8I")
_EXECUTABLE, _XTENSA, _LOAD, _ALL_ACCESS = 2, 94, 1, 7
_CALL0_ABI = 0x300


def encode(entry: int, segments: Sequence[FlashSegment]) -> bytes:
    """A 32-bit little-endian Xtensa executable."""
    offset = _HEADER.size + len(segments) * _PROGRAM_HEADER.size
    header = _HEADER.pack(
        _IDENTITY, _EXECUTABLE, _XTENSA, 1, entry, _HEADER.size, 0, _CALL0_ABI,
        _HEADER.size, _PROGRAM_HEADER.size, len(segments), 0, 0, 0,
    )  # fmt: skip
    table = b""
    for segment in segments:
        size = len(segment.data)
        table += _PROGRAM_HEADER.pack(_LOAD, offset, segment.address, segment.address, size, size, _ALL_ACCESS, 4)
        offset += size
    return b"".join((header, table, *(segment.data for segment in segments)))
