"""The SPI flash: 4 MB in sectors of 4096 bytes, whose bits only fall until they are erased."""

from __future__ import annotations

import mmap

from harness.virtual.esp32.faults import Esp32Faults
from harness.virtual.esp32.memory_map import SECTOR_BYTES


class SpiFlash:
    """The array and what can be done to it.

    Args:
        array: the bytes.
        faults: its broken cells, by offset, and its size.
    """

    def __init__(self, array: mmap.mmap, faults: Esp32Faults) -> None:
        self.array = array
        self._faults = faults

    @property
    def size_bytes(self) -> int:
        """How much of the array the part has."""
        return self._faults.flash_bytes or len(self.array)

    def erase(self, offset: int, size_bytes: int) -> None:
        """Set all bits of every sector that the range touches."""
        start = offset - offset % SECTOR_BYTES
        end = min(-(-(offset + size_bytes) // SECTOR_BYTES) * SECTOR_BYTES, len(self.array))
        if start < end:
            self.array[start:end] = b"\xff" * (end - start)

    def program(self, offset: int, data: bytes) -> None:
        """Clear the bits that are clear in `data`; what lies behind the end is lost."""
        end = min(offset + len(data), len(self.array))
        before = self.array[offset:end]
        falling = int.from_bytes(before, "little") & int.from_bytes(data[: len(before)], "little")
        after = falling.to_bytes(len(before), "little")
        cells = self._faults.cells
        self.array[offset:end] = cells.programmed(offset, before, after) if cells.any_broken else after

    def flip(self, offset: int, mask: int) -> None:
        """Change bits at rest, as age and heat do."""
        self.array[offset] ^= mask
