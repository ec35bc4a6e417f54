"""The chip's peripherals and where they are (RM0090 section 2.3)."""

from __future__ import annotations

from harness.virtual.stm32f407.chip.bus import Bus, HoldingRegisters
from harness.virtual.stm32f407.chip.clocks import ResetAndClocks, ResetCause
from harness.virtual.stm32f407.chip.core import Core
from harness.virtual.stm32f407.chip.flash_controller import FlashController
from harness.virtual.stm32f407.chip.timers import IndependentWatchdog
from harness.virtual.stm32f407.chip.usart import Usart
from harness.virtual.stm32f407.faults import Faults
from harness.virtual.stm32f407.serial_line import SerialLine

CRYSTAL_HZ = 8_000_000
_VOLTAGE_READY = 0x4000
"""Bit 14 of PWR_CR (VOS) and of PWR_CSR (VOSRDY)."""
_OTHERS = ((0x40000000, 0x8000), (0x40010000, 0x4C00), (0x40020000, 0x60000), (0x50000000, 0x61000))
"""APB1, APB2, AHB1, AHB2: their registers, GPIO's among them, hold what is written."""


class Peripherals:
    """All peripherals outside the core.

    Args:
        core: for emulated time, and to end slices.
        bus: what they are attached to.
        flash: the flash interface.
        line: what USART2 is connected to.
        faults: what is broken.
    """

    def __init__(self, core: Core, bus: Bus, flash: FlashController, line: SerialLine, faults: Faults) -> None:
        self.flash = flash
        self.clocks = ResetAndClocks(CRYSTAL_HZ, faults.clock)
        self.watchdog = IndependentWatchdog()
        self.usart = Usart(core.time, self.clocks, line, core.stop)
        self._holding = [HoldingRegisters({0x0: _VOLTAGE_READY, 0x4: _VOLTAGE_READY})]
        bus.attach(0x40023C00, 0x400, self.flash)
        bus.attach(0x40023800, 0x400, self.clocks)
        bus.attach(0x40003000, 0x400, self.watchdog)
        bus.attach(0x40004400, 0x400, self.usart)
        bus.attach(0x40007000, 0x400, self._holding[0])
        for start, size in _OTHERS:
            self._holding.append(HoldingRegisters())
            bus.attach(start, size, self._holding[-1])

    def reset(self, cause: ResetCause) -> None:
        """As after a reset."""
        self.flash.reset()
        self.watchdog.reset()
        self.usart.reset()
        for each in self._holding:
            each.reset()
        self.clocks.reset(cause)
