from __future__ import annotations

import pytest

from harness.virtual.stm32f407.chip import timers
from harness.virtual.stm32f407.chip.timebase import Timebase

WORD = 0xFFFFFFFF
ENABLE, INTERRUPT, CORE_CLOCK, COUNTED = 1, 2, 4, 1 << 16


@pytest.fixture
def time():
    return Timebase(lambda: 0)


@pytest.fixture
def systick(time):
    return timers.SysTick(time, lambda: None)


def start(systick: timers.SysTick, reload: int, control: int) -> None:
    systick.write(timers.RVR, reload, WORD)
    systick.write(timers.CSR, control, WORD)


def test_systick_ticks_once_per_period(time, systick):
    start(systick, 99, ENABLE | INTERRUPT | CORE_CLOCK)
    time.skip(99)
    assert not systick.tick()
    assert systick.cycles_to_tick() == 1
    time.skip(1)
    assert systick.tick()
    assert not systick.tick()
    assert systick.cycles_to_tick() == 100


def test_systick_counts_down_and_remembers_that_it_passed_zero(time, systick):
    start(systick, 99, ENABLE | CORE_CLOCK)
    time.skip(10)
    assert systick.read(timers.CVR) == 90
    assert not systick.read(timers.CSR) & COUNTED
    time.skip(95)
    assert not systick.tick()  # its interrupt is not enabled
    assert systick.read(timers.CSR) & COUNTED
    assert not systick.read(timers.CSR) & COUNTED


def test_systick_at_an_eighth_of_the_core_clock(time, systick):
    start(systick, 99, ENABLE | INTERRUPT)
    assert systick.cycles_to_tick() == 800


def test_systick_stands_still_when_disabled(time, systick):
    start(systick, 99, ENABLE | INTERRUPT | CORE_CLOCK)
    systick.write(timers.CSR, 0, WORD)
    time.skip(10_000)
    assert not systick.tick()


@pytest.fixture
def watchdog():
    return timers.IndependentWatchdog()


def configure(watchdog: timers.IndependentWatchdog, prescaler: int, reload: int) -> None:
    watchdog.write(timers.KR, timers.KEY_UNLOCK, WORD)
    watchdog.write(timers.PR, prescaler, WORD)
    watchdog.write(timers.RLR, reload, WORD)
    watchdog.write(timers.KR, timers.KEY_RELOAD, WORD)


def test_the_watchdog_does_nothing_until_it_is_started(watchdog):
    assert not watchdog.elapse(1e6)


def test_the_watchdog_bites_after_its_time_and_not_before(watchdog):
    watchdog.write(timers.KR, timers.KEY_START, WORD)
    configure(watchdog, prescaler=6, reload=999)  # 1000 · 256 / 32 kHz
    assert not watchdog.elapse(7.9)
    assert watchdog.elapse(0.2)


def test_reloading_keeps_the_watchdog_quiet(watchdog):
    watchdog.write(timers.KR, timers.KEY_START, WORD)
    for _ in range(10):
        assert not watchdog.elapse(0.5)
        watchdog.write(timers.KR, timers.KEY_RELOAD, WORD)


def test_the_watchdog_is_locked_without_its_key(watchdog):
    watchdog.write(timers.RLR, 1, WORD)
    watchdog.write(timers.PR, 3, WORD)
    assert (watchdog.read(timers.RLR), watchdog.read(timers.PR)) == (0xFFF, 0)
