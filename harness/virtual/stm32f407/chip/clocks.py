"""Reset and clock control (RM0090 section 7): which clock runs, how fast, and why the chip was reset."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from types import MappingProxyType

from harness.virtual.stm32f407.chip.bus import HoldingRegisters
from harness.virtual.stm32f407.faults import ClockFaults

CR, PLLCFGR, CFGR, CSR = 0x00, 0x04, 0x08, 0x74
HSI_HZ = 16_000_000
_HSION, _HSIRDY, _HSEON, _HSERDY, _PLLON, _PLLRDY = 1 << 0, 1 << 1, 1 << 16, 1 << 17, 1 << 24, 1 << 25
_PLLI2SON, _PLLI2SRDY = 1 << 26, 1 << 27
_CR_READY = _HSIRDY | _HSERDY | _PLLRDY | _PLLI2SRDY
_PLL_FROM_HSE = 1 << 22
_LSION, _LSIRDY, _RMVF = 1 << 0, 1 << 1, 1 << 24
_HSI, _HSE, _PLL = 0, 1, 2
_RESET_VALUES: Mapping[int, int] = MappingProxyType({CR: 0x83, PLLCFGR: 0x24003010, 0x30: 0x00100000})
_AHB_DIVIDERS = (2, 4, 8, 16, 64, 128, 256, 512)


class ResetCause(Enum):
    """Why the chip was reset, with the flags of RCC_CSR that tell it: the pin is pulled low by all of them."""

    POWER = 1 << 27 | 1 << 26 | 1 << 25
    PIN = 1 << 26
    SOFTWARE = 1 << 28 | 1 << 26
    WATCHDOG = 1 << 29 | 1 << 26


class ResetAndClocks:
    """RCC at 0x40023800.

    Args:
        crystal_hz: the board's crystal at HSE.
        faults: what is wrong with the clocks.
    """

    def __init__(self, crystal_hz: int, faults: ClockFaults) -> None:
        self._crystal_hz = crystal_hz
        self._faults = faults
        self._registers = HoldingRegisters(dict(_RESET_VALUES))
        self._cause_flags = 0

    def reset(self, cause: ResetCause) -> None:
        """As after a reset; the flags of earlier resets stay until software removes them."""
        self._registers.reset()
        self._cause_flags = cause.value | (0 if cause is ResetCause.POWER else self._cause_flags)

    def core_hz(self) -> float:
        """The core's clock (HCLK)."""
        prescaler = self._registers.read(CFGR) >> 4 & 0xF
        divider = _AHB_DIVIDERS[prescaler & 7] if prescaler & 8 else 1
        return self._source_hz(self._selected()) / divider

    def apb1_hz(self) -> float:
        """The clock of the peripherals on APB1 (PCLK1)."""
        prescaler = self._registers.read(CFGR) >> 10 & 7
        return self.core_hz() / (2 << (prescaler & 3) if prescaler & 4 else 1)

    def read(self, offset: int) -> int:
        """A register."""
        value = self._registers.read(offset)
        if offset == CR:
            return value & ~_CR_READY | self._ready()
        if offset == CFGR:
            return value & ~0xC | self._selected() << 2
        if offset == CSR:
            return value & _LSION | (_LSIRDY if value & _LSION else 0) | self._cause_flags
        return value

    def write(self, offset: int, value: int, mask: int) -> None:
        """A register."""
        if offset == CSR and value & _RMVF:
            self._cause_flags = 0
        self._registers.write(offset, value, mask)

    def _ready(self) -> int:
        """The ready flags of RCC_CR: all but a missing crystal, and what depends on it, start at once."""
        control = self._registers.read(CR)
        ready = _HSIRDY if control & _HSION else 0
        if control & _HSEON and not self._faults.hse_missing:
            ready |= _HSERDY
        source = _HSERDY if self._registers.read(PLLCFGR) & _PLL_FROM_HSE else _HSIRDY
        if ready & source:
            ready |= _PLLRDY if control & _PLLON else 0
            ready |= _PLLI2SRDY if control & _PLLI2SON else 0
        return ready

    def _selected(self) -> int:
        """The system clock that is really used: HSI until the wanted one is ready."""
        wanted = self._registers.read(CFGR) & 3
        needed = {_HSE: _HSERDY, _PLL: _PLLRDY}.get(wanted, 0)
        return wanted if self._ready() & needed else _HSI

    def _source_hz(self, source: int) -> float:
        if source == _PLL:
            return self._pll_hz()
        nominal = self._crystal_hz if source == _HSE else HSI_HZ
        return nominal * (1 + self._faults.error_percent / 100)

    def _pll_hz(self) -> float:
        """Source / M · N / P (RM0090 section 7.3.2)."""
        configuration = self._registers.read(PLLCFGR)
        source = self._source_hz(_HSE if configuration & _PLL_FROM_HSE else _HSI)
        divider_m = max(2, configuration & 0x3F)
        divider_p = 2 * ((configuration >> 16 & 3) + 1)
        return source / divider_m * (configuration >> 6 & 0x1FF) / divider_p
