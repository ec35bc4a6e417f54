"""The speed of UART0, from its divider and the clock that feeds it.

Source: ESP32 Technical Reference Manual, "UART Controller".
"""

from __future__ import annotations

from harness.virtual.esp32 import memory_map

ROM_BAUD = 115200
_CRYSTAL_HZ, _PLL_BUS_HZ, _REFERENCE_HZ = 40e6, 80e6, 1e6
_FROM_BUS_CLOCK = 1 << 27
_PLL_SELECTED = 1
INITIAL_REGISTERS = {
    memory_map.UART0_CLKDIV: int(_CRYSTAL_HZ / ROM_BAUD),
    memory_map.UART0_CONF0: _FROM_BUS_CLOCK | 0x1C,
}


class UartClock:
    """What the firmware has made of UART0's speed; as the ROM leaves it at first: crystal, no PLL."""

    def __init__(self) -> None:
        self._registers = {**INITIAL_REGISTERS, memory_map.RTC_CLK_CONF: 0}

    def write(self, address: int, value: int) -> None:
        """The firmware has written a register; one that does not matter here changes nothing."""
        if address in self._registers:
            self._registers[address] = value

    @property
    def baud(self) -> float:
        """Bits per second."""
        divider = self._registers[memory_map.UART0_CLKDIV]
        sixteenths = (divider & 0xFFFFF) * 16 + (divider >> 20 & 0xF)
        return self._source_hz() * 16 / max(sixteenths, 16)

    def _source_hz(self) -> float:
        if not self._registers[memory_map.UART0_CONF0] & _FROM_BUS_CLOCK:
            return _REFERENCE_HZ
        selected = self._registers[memory_map.RTC_CLK_CONF] >> 27 & 3
        return _PLL_BUS_HZ if selected == _PLL_SELECTED else _CRYSTAL_HZ
