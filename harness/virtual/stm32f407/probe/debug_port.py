"""The debug port and memory access port (ARM ADIv5) of a virtual board, in front of its link.

Register reads and writes are answered here, as the chip's SW-DP and AHB-AP would; only memory accesses and debug port
transfers travel to the board, a block of words in one round trip.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence

from harness.virtual.link import BusFaultError, WaitError
from harness.virtual.stm32f407.probe.debug_link import DebugLink

_DP_IDCODE = _DP_ABORT = 0x0
"""The same address: one is read, the other written."""
_DP_CTRL_STAT = 0x4
_SW_DP_ID = 0x2BA0_1477
"""SW-DP of a Cortex-M4 (RM0090 section 38.8.3)."""
_POWER_UP_REQUESTS = 0x5000_0000
"""CDBGPWRUPREQ and CSYSPWRUPREQ; each is acknowledged in the bit above it."""

_AP_CSW = 0x00
_AP_TAR = 0x04
_AP_DRW = 0x0C
_AP_CONSTANTS: Mapping[int, int] = {
    0xF8: 0xE00F_F003,  # BASE: where the ROM table lies
    0xFC: 0x2477_0011,  # IDR: AHB-AP of a Cortex-M4
}
_CSW_SIZE = 0x7
_CSW_INCREMENT = 0x30
_CSW_DEVICE_ENABLED = 0x40
_CSW_AT_RESET = 0x2300_0052
_INCREMENT_WRAP = 0x400
"""The address increments in its low ten bits only."""


class DebugPort:
    """An SW-DP with an AHB-AP as its access port 0.

    The methods raise what the link raises.

    Args:
        link: to the board.
    """

    def __init__(self, link: DebugLink) -> None:
        self._link = link
        self._power_and_status = 0
        self._csw = _CSW_AT_RESET
        self._address = 0

    def read_dp(self, register: int) -> int:
        """Read a register of the debug port."""
        self._transfer(always_answered=register in (_DP_IDCODE, _DP_CTRL_STAT))
        if register == _DP_IDCODE:
            return _SW_DP_ID
        if register == _DP_CTRL_STAT:
            return self._power_and_status | (self._power_and_status & _POWER_UP_REQUESTS) << 1
        return 0

    def write_dp(self, register: int, value: int) -> None:
        """Write a register of the debug port; all but CTRL/STAT only have effects that a virtual board lacks."""
        self._transfer(always_answered=register == _DP_ABORT)
        if register == _DP_CTRL_STAT:
            self._power_and_status = value

    def read_ap(self, address: int) -> int:
        """Read a register of an access port.

        Args:
            address: the access port's number in bits 31 to 24, the register in bits 7 to 0.
        """
        number, register = address >> 24, address & 0xFC
        if number:
            return 0  # there is no such access port
        if register == _AP_DRW:
            return self._read_data()
        if register == _AP_CSW:
            return self._csw
        if register == _AP_TAR:
            return self._address
        return _AP_CONSTANTS.get(register, 0)

    def write_ap(self, address: int, value: int) -> None:
        """Write a register of an access port; `address` as for `read_ap`."""
        number, register = address >> 24, address & 0xFC
        if number:
            return
        if register == _AP_DRW:
            self._write_data(value)
        elif register == _AP_CSW:
            self._csw = value | _CSW_DEVICE_ENABLED
        elif register == _AP_TAR:
            self._address = value

    def read_words(self, count: int) -> list[int]:
        """Read the data register `count` times, the address incrementing by words."""
        data = self._link.read_memory(self._address, 4 * count)
        self._increment(4 * count)
        return list(struct.unpack(f"<{count}I", data))

    def write_words(self, words: Sequence[int]) -> None:
        """Write the data register once for each word, the address incrementing by words."""
        self._link.write_memory(self._address, struct.pack(f"<{len(words)}I", *words))
        self._increment(4 * len(words))

    def _transfer(self, always_answered: bool) -> None:
        """A transfer that ends in the debug port; what is always answered is so even while others have to wait."""
        try:
            self._link.touch()
        except (WaitError, BusFaultError):
            if not always_answered:
                raise

    @property
    def _width_bytes(self) -> int:
        return 1 << min(self._csw & _CSW_SIZE, 2)

    @property
    def _lane_bits(self) -> int:
        """How far a byte or half-word is shifted in the data register."""
        return 8 * (self._address & (4 - self._width_bytes))

    def _read_data(self) -> int:
        data = self._link.read_memory(self._address, self._width_bytes, self._width_bytes)
        value = int.from_bytes(data, "little") << self._lane_bits
        self._increment(self._width_bytes)
        return value

    def _write_data(self, value: int) -> None:
        width = self._width_bytes
        lane = value >> self._lane_bits & ((1 << 8 * width) - 1)
        self._link.write_memory(self._address, lane.to_bytes(width, "little"), width)
        self._increment(width)

    def _increment(self, size_bytes: int) -> None:
        if self._csw & _CSW_INCREMENT:
            base = self._address & ~(_INCREMENT_WRAP - 1)
            self._address = base | (self._address + size_bytes) % _INCREMENT_WRAP
