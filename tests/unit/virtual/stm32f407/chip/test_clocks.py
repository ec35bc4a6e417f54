from __future__ import annotations

import pytest

from harness.virtual.stm32f407.chip.clocks import CFGR, CR, CSR, PLLCFGR, ResetAndClocks, ResetCause
from harness.virtual.stm32f407.faults import ClockFaults

WORD = 0xFFFFFFFF
HSEON, HSERDY, PLLON, PLLRDY = 1 << 16, 1 << 17, 1 << 24, 1 << 25
PLL_168_MHZ_FROM_HSE = 1 << 22 | 0 << 16 | 336 << 6 | 8
PLL_168_MHZ_FROM_HSI = 0 << 16 | 336 << 6 | 16
APB1_BY_4 = 0b101 << 10
FROM_PLL = 2


@pytest.fixture
def faults():
    return ClockFaults()


@pytest.fixture
def clocks(faults):
    made = ResetAndClocks(8_000_000, faults)
    made.reset(ResetCause.POWER)
    return made


def set_up(clocks: ResetAndClocks, pll: int) -> None:
    clocks.write(PLLCFGR, pll, WORD)
    clocks.write(CR, clocks.read(CR) | HSEON | PLLON, WORD)
    clocks.write(CFGR, APB1_BY_4 | FROM_PLL, WORD)


def test_it_starts_on_the_internal_oscillator(clocks):
    assert clocks.core_hz() == clocks.apb1_hz() == 16_000_000


def test_168_mhz_from_the_crystal(clocks):
    set_up(clocks, PLL_168_MHZ_FROM_HSE)
    assert clocks.read(CR) & (HSERDY | PLLRDY) == HSERDY | PLLRDY
    assert clocks.read(CFGR) >> 2 & 3 == FROM_PLL
    assert (clocks.core_hz(), clocks.apb1_hz()) == (168_000_000, 42_000_000)


def test_without_a_crystal_the_pll_never_gets_ready_and_the_internal_oscillator_goes_on(clocks, faults):
    faults.hse_missing = True
    set_up(clocks, PLL_168_MHZ_FROM_HSE)
    assert clocks.read(CR) & (HSERDY | PLLRDY) == 0
    assert clocks.read(CFGR) >> 2 & 3 == 0
    assert clocks.core_hz() == 16_000_000


def test_without_a_crystal_the_pll_runs_from_the_internal_oscillator(clocks, faults):
    faults.hse_missing = True
    set_up(clocks, PLL_168_MHZ_FROM_HSI)
    assert clocks.core_hz() == 168_000_000


def test_an_oscillator_five_percent_off(clocks, faults):
    faults.error_percent = 5.0
    assert clocks.core_hz() == pytest.approx(16_800_000)


def test_reset_flags_add_up_until_removed(clocks):
    clocks.write(CSR, 1 << 24, WORD)
    clocks.reset(ResetCause.SOFTWARE)
    clocks.reset(ResetCause.WATCHDOG)
    assert clocks.read(CSR) & 0xFE00_0000 == 1 << 29 | 1 << 28 | 1 << 26
    clocks.write(CSR, 1 << 24, WORD)
    assert clocks.read(CSR) & 0xFE00_0000 == 0
