"""The bus: which register block answers at which address."""

from __future__ import annotations

from typing import Protocol

_WORD = 0xFFFFFFFF


class BusError(Exception):
    """Nothing answers at an address, or it refuses.

    Attributes:
        address: which one.
    """

    def __init__(self, address: int) -> None:
        super().__init__(f"bus error at {address:#010x}")
        self.address = address


class RegisterBlock(Protocol):
    """A peripheral, as the bus sees it: 32-bit registers at word offsets."""

    def read(self, offset: int) -> int:
        """The register at a word offset."""

    def write(self, offset: int, value: int, mask: int) -> None:
        """Write those bits of the register at a word offset that are set in `mask`; `value` is zero elsewhere."""


class HoldingRegisters:
    """A peripheral whose registers do nothing but keep what was written.

    Args:
        reset_values: by word offset, the registers that are not zero after reset.
    """

    def __init__(self, reset_values: dict[int, int] | None = None) -> None:
        self._reset_values = reset_values or {}
        self._values = dict(self._reset_values)

    def reset(self) -> None:
        """All registers as after reset."""
        self._values = dict(self._reset_values)

    def read(self, offset: int) -> int:
        """The register at a word offset."""
        return self._values.get(offset, 0)

    def write(self, offset: int, value: int, mask: int) -> None:
        """Keep the bits in `mask`."""
        self._values[offset] = (self._values.get(offset, 0) & ~mask) | value


class Bus:
    """Finds the block for an address. Blocks that are attached first win."""

    def __init__(self) -> None:
        self._blocks: list[tuple[int, int, RegisterBlock]] = []
        self._known: dict[int, tuple[RegisterBlock, int]] = {}

    def attach(self, start: int, size_bytes: int, block: RegisterBlock) -> None:
        """Have `block` answer from `start` on."""
        self._blocks.append((start, start + size_bytes, block))

    def read(self, address: int, width_bytes: int) -> int:
        """Read 1, 2 or 4 bytes.

        Raises:
            BusError: nothing answers there.
        """
        word = address & ~3
        block, offset = self._known.get(word) or self._find(word)
        value = block.read(offset)
        if width_bytes == 4:
            return value
        return value >> 8 * (address & 3) & (_WORD >> 32 - 8 * width_bytes)

    def write(self, address: int, width_bytes: int, value: int) -> None:
        """Write 1, 2 or 4 bytes.

        Raises:
            BusError: nothing answers there.
        """
        word = address & ~3
        block, offset = self._known.get(word) or self._find(word)
        if width_bytes == 4:
            block.write(offset, value, _WORD)
            return
        shift = 8 * (address & 3)
        mask = (_WORD >> 32 - 8 * width_bytes) << shift & _WORD
        block.write(offset, value << shift & mask, mask)

    def _find(self, address: int) -> tuple[RegisterBlock, int]:
        """The block and offset of a word, remembered: firmware polls registers a lot."""
        for start, end, block in self._blocks:
            if start <= address < end:
                found = self._known[address] = block, address - start
                return found
        raise BusError(address)
