"""What ESP-IDF has put into an ESP32's flash, by its partition table.

Source: ESP-IDF Programming Guide, "Partition Tables": entries of 32 bytes at 0x8000, each with its magic, type, offset,
size and label; what stands behind the last has another magic.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator

from harness.domain.board import MemoryRegion, Occupant

BOOT_LOADER = MemoryRegion(0x1000, 0x7000)
TABLE = MemoryRegion(0x8000, 0xC00)
_ENTRY = struct.Struct("<HBBII16sI")
_MAGIC = 0x50AA


def read_partitions(read: Callable[[int, int], bytes]) -> list[Occupant]:
    """Boot loader, table and partitions, where there is a table; none without one.

    Args:
        read: reads flash: offset, number of bytes.
    """
    partitions = list(_partitions(read(TABLE.start, TABLE.size_bytes)))
    if not partitions:
        return []
    return [Occupant("boot loader", BOOT_LOADER), Occupant("partition table", TABLE), *partitions]


def _partitions(table: bytes) -> Iterator[Occupant]:
    for at in range(0, len(table) - _ENTRY.size + 1, _ENTRY.size):
        magic, _, _, offset, size, label, _ = _ENTRY.unpack_from(table, at)
        if magic != _MAGIC:
            return
        yield Occupant(label.partition(b"\0")[0].decode("ascii", "replace"), MemoryRegion(offset, size))
