"""The memories of an STM32F407xG (RM0090 section 2.3): plain bytes that the core and the debugger share."""

from __future__ import annotations

import ctypes
import hashlib
import mmap
import random
from dataclasses import dataclass

FLASH_START, FLASH_BYTES = 0x08000000, 0x100000
RAM_START, RAM_BYTES = 0x20000000, 0x20000
CCM_START, CCM_BYTES = 0x10000000, 0x10000
SYSTEM_START, SYSTEM_BYTES = 0x1FFF0000, 0x8000
"""System memory: the ROM boot loader's place, the one-time-programmable bytes, and the device's identity."""
UNIQUE_ID = 0x1FFF7A10
FLASH_SIZE_REGISTER = 0x1FFF7A22


@dataclass(frozen=True)
class Region:
    """A piece of the address space that is memory.

    Attributes:
        start: its first address.
        data: its bytes.
        writable, executable: what the core may do.
    """

    start: int
    data: mmap.mmap
    writable: bool
    executable: bool

    @property
    def size_bytes(self) -> int:
        """How long it is."""
        return len(self.data)

    @property
    def pointer(self) -> int:
        """Where its bytes are in this process."""
        return ctypes.addressof(ctypes.c_char.from_buffer(self.data))


class Memory:
    """All memories of one board.

    Args:
        flash: the flash array's bytes.
        name: the board's name, from which its unique device id is made.
    """

    def __init__(self, flash: mmap.mmap, name: str) -> None:
        self.flash = flash
        self.ram = mmap.mmap(-1, RAM_BYTES)
        self.ccm = mmap.mmap(-1, CCM_BYTES)
        self.flash_region = Region(FLASH_START, flash, writable=False, executable=True)
        self.flash_alias = Region(0, flash, writable=False, executable=True)
        system = Region(SYSTEM_START, _system_memory(name), writable=False, executable=True)
        ram = Region(RAM_START, self.ram, writable=True, executable=True)
        ccm = Region(CCM_START, self.ccm, writable=True, executable=False)
        self.regions = (ram, self.flash_region, ccm, self.flash_alias, system)

    def find(self, address: int, size_bytes: int) -> tuple[Region, int] | None:
        """The region that holds all of a range, and the offset of the range in it."""
        for region in self.regions:
            offset = address - region.start
            if offset >= 0 and offset + size_bytes <= region.size_bytes:
                return region, offset
        return None

    def is_flash(self, region: Region) -> bool:
        """Whether a region is the flash array, at either of its addresses."""
        return region.data is self.flash

    def lose_power(self, seed: int) -> None:
        """Leave in the RAMs what they hold after a power cut: nothing to rely on."""
        noise = random.Random(seed)  # noqa: S311 - no secret, and the same every time
        self.ram[:] = noise.randbytes(RAM_BYTES)
        self.ccm[:] = noise.randbytes(CCM_BYTES)


def _system_memory(name: str) -> mmap.mmap:
    """System memory as delivered, with the 96-bit device id and the flash size (RM0090 section 39)."""
    system = mmap.mmap(-1, SYSTEM_BYTES)
    system[:] = b"\xff" * SYSTEM_BYTES
    unique_id = hashlib.sha256(name.encode()).digest()[:12]
    system[UNIQUE_ID - SYSTEM_START : UNIQUE_ID - SYSTEM_START + 12] = unique_id
    size = (FLASH_BYTES // 1024).to_bytes(2, "little")
    system[FLASH_SIZE_REGISTER - SYSTEM_START : FLASH_SIZE_REGISTER - SYSTEM_START + 2] = size
    return system
