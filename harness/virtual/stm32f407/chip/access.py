"""What a debugger reads and writes through the memory access port."""

from __future__ import annotations

from collections.abc import Callable

from harness.virtual.stm32f407.chip.bus import Bus, BusError
from harness.virtual.stm32f407.chip.flash_controller import FlashController
from harness.virtual.stm32f407.chip.memory import Memory


class DebugAccess:
    """Memory and registers, as they answer to a debugger.

    Args:
        memory: the memories.
        bus: the registers.
        flash: the flash array's rules.
        changed: called after memory has been written.
    """

    def __init__(self, memory: Memory, bus: Bus, flash: FlashController, changed: Callable[[], None]) -> None:
        self._memory = memory
        self._bus = bus
        self._flash = flash
        self._changed = changed

    def read(self, address: int, size_bytes: int, width_bytes: int) -> bytes:
        """Read memory at once, registers one access after the other.

        Raises:
            BusError: nothing answers at one of the addresses, or read-out protection forbids it.
        """
        found = self._memory.find(address, size_bytes)
        if found is None:
            return b"".join(
                self._bus.read(each, width_bytes).to_bytes(width_bytes, "little")
                for each in range(address, address + size_bytes, width_bytes)
            )
        region, offset = found
        if self._memory.is_flash(region) and self._flash.protection_level:
            raise BusError(address)
        return region.data[offset : offset + size_bytes]

    def write(self, address: int, data: bytes, width_bytes: int) -> None:
        """Write memory at once, registers and flash one access after the other.

        Raises:
            BusError: nothing answers at one of the addresses, or it cannot be written.
        """
        found = self._memory.find(address, len(data))
        if found is None:
            for offset in range(0, len(data), width_bytes):
                value = int.from_bytes(data[offset : offset + width_bytes], "little")
                self._bus.write(address + offset, width_bytes, value)
            return
        region, start = found
        if self._memory.is_flash(region):
            self._program(start, data, width_bytes)
        elif region.writable:
            region.data[start : start + len(data)] = data
            self._changed()
        else:
            raise BusError(address)

    def _program(self, start: int, data: bytes, width_bytes: int) -> None:
        for offset in range(0, len(data), width_bytes):
            self._flash.store(start + offset, data[offset : offset + width_bytes])
        self._flash.settle()
