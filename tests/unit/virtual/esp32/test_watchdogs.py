from __future__ import annotations

import pytest

from harness.virtual.esp32.resets import ResetCause
from harness.virtual.esp32.watchdogs import KINDS, Watchdog

GROUP_0, GROUP_1, RTC = KINDS


def test_two_are_awake_after_a_reset():
    assert Watchdog(GROUP_0, 10.0).bite() == (pytest.approx(10.325), ResetCause.TIMER_GROUP_0_WATCHDOG)
    assert Watchdog(RTC, 10.0).bite() == (pytest.approx(10.853, abs=0.001), ResetCause.RTC_WATCHDOG)
    assert Watchdog(GROUP_1, 10.0).bite() is None


@pytest.mark.parametrize("kind", KINDS)
def test_a_zero_in_its_configuration_puts_it_to_sleep(kind):
    watchdog = Watchdog(kind, 0.0)
    watchdog.write(kind.config, 0, 0.1)
    assert watchdog.bite() is None


def test_another_ones_registers_change_nothing():
    watchdog = Watchdog(GROUP_0, 0.0)
    watchdog.write(RTC.config, 0, 0.1)
    watchdog.write(RTC.feed, 1, 0.1)
    assert watchdog.bite() == (pytest.approx(0.325), ResetCause.TIMER_GROUP_0_WATCHDOG)


def test_stages_before_the_one_that_resets_add_up_and_feeding_starts_anew():
    watchdog = Watchdog(GROUP_1, 0.0)
    watchdog.write(0x3FF6004C, 40_000 << 16, 0.0)  # ticks of half a millisecond
    watchdog.write(0x3FF60050, 1000, 0.0)
    watchdog.write(0x3FF60054, 3000, 0.0)
    watchdog.write(0x3FF60048, 1 << 31 | 1 << 29 | 3 << 27, 0.0)  # interrupt, then reset
    assert watchdog.bite() == (pytest.approx(2.0), ResetCause.TIMER_GROUP_1_WATCHDOG)
    watchdog.write(GROUP_1.feed, 1, 1.5)
    assert watchdog.bite() == (pytest.approx(3.5), ResetCause.TIMER_GROUP_1_WATCHDOG)


@pytest.mark.parametrize(
    ("action", "cause"),
    [(2, ResetCause.RTC_WATCHDOG_CPU), (3, ResetCause.RTC_WATCHDOG_SYSTEM), (4, ResetCause.RTC_WATCHDOG)],
)
def test_what_a_stage_does_is_the_cause(action, cause):
    watchdog = Watchdog(RTC, 0.0)
    watchdog.write(0x3FF48090, 15_000, 0.0)
    watchdog.write(RTC.config, 1 << 31 | action << 28, 0.0)
    assert watchdog.bite() == (pytest.approx(0.1), cause)
