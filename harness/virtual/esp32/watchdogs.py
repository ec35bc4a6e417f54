"""The watchdogs, of which two are awake when the ROM starts an image.

The write protection is the shim's business: only writes that count arrive here. Registers and their values after a
reset: ESP-IDF's timer_group_reg.h and rtc_cntl_reg.h.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from harness.virtual.esp32 import memory_map
from harness.virtual.esp32.resets import ResetCause

_ENABLE = 1 << 31
_MAIN_CLOCK_HZ = 80e6
_SLOW_CLOCK_HZ = 150e3


@dataclass(frozen=True)
class Kind:
    """One watchdog's registers.

    Attributes:
        config: address of its WDTCONFIG0.
        prescaler: address of the register whose upper half divides its clock; None where nothing does.
        holds: addresses of the four stages' timeouts, in ticks.
        feed: address of WDTFEED.
        clock_hz: its clock, before the prescaler.
        stage_shifts, stage_mask: where WDTCONFIG0 says what each stage does.
        resets: by what a stage does, the cause of the reset.
        flash_boot: the bit of WDTCONFIG0 that keeps stage 0 awake during boot, and what stage 0 then does; None where
            the watchdog sleeps until it is enabled.
        initial: the registers' values after a reset.
    """

    config: int
    prescaler: int | None
    holds: tuple[int, int, int, int]
    feed: int
    clock_hz: float
    stage_shifts: tuple[int, int, int, int]
    stage_mask: int
    resets: Mapping[int, ResetCause]
    flash_boot: tuple[int, int] | None
    initial: Mapping[int, int]


def _timer_group(base: int, system_reset: ResetCause, *, boots: bool) -> Kind:
    holds = (base + 0x50, base + 0x54, base + 0x58, base + 0x5C)
    return Kind(
        config=base + 0x48,
        prescaler=base + 0x4C,
        holds=holds,
        feed=base + 0x60,
        clock_hz=_MAIN_CLOCK_HZ,
        stage_shifts=(29, 27, 25, 23),
        stage_mask=3,
        resets={2: ResetCause.TIMER_GROUP_WATCHDOG_CPU, 3: system_reset},
        flash_boot=(1 << 14, 3) if boots else None,
        initial={
            base + 0x48: 1 << 18 | 1 << 15 | 1 << 14,
            base + 0x4C: 1 << 16,
            **dict(zip(holds, (26_000_000, 0x7FFFFFF, 0xFFFFF, 0xFFFFF), strict=True)),
        },
    )


def _rtc() -> Kind:
    base = memory_map.RTC_CNTL
    holds = (base + 0x90, base + 0x94, base + 0x98, base + 0x9C)
    return Kind(
        config=base + 0x8C,
        prescaler=None,
        holds=holds,
        feed=base + 0xA0,
        clock_hz=_SLOW_CLOCK_HZ,
        stage_shifts=(28, 25, 22, 19),
        stage_mask=7,
        resets={2: ResetCause.RTC_WATCHDOG_CPU, 3: ResetCause.RTC_WATCHDOG_SYSTEM, 4: ResetCause.RTC_WATCHDOG},
        flash_boot=(1 << 10, 4),
        initial={
            base + 0x8C: 1 << 14 | 1 << 11 | 1 << 10,
            **dict(zip(holds, (128_000, 80_000, 0xFFF, 0xFFF), strict=True)),
        },
    )


KINDS = (
    _timer_group(memory_map.TIMER_GROUP_0, ResetCause.TIMER_GROUP_0_WATCHDOG, boots=True),
    _timer_group(memory_map.TIMER_GROUP_1, ResetCause.TIMER_GROUP_1_WATCHDOG, boots=False),
    _rtc(),
)
INITIAL_REGISTERS = {address: value for kind in KINDS for address, value in kind.initial.items()}


class Watchdog:
    """One of them, after a reset.

    Args:
        kind: which.
        now: seconds on any clock; the watchdog counts from here.
    """

    def __init__(self, kind: Kind, now: float) -> None:
        self._kind = kind
        self._registers = dict(kind.initial)
        self._fed_at = now

    def write(self, address: int, value: int, now: float) -> None:
        """The firmware has written a register; one of another watchdog changes nothing."""
        if address == self._kind.feed:
            self._fed_at = now
        elif address in self._registers:
            self._registers[address] = value
            self._fed_at = now

    def bite(self) -> tuple[float, ResetCause] | None:
        """When it resets the chip unless it is fed, and the cause of that reset; None while it sleeps."""
        elapsed = self._fed_at
        for stage, action in enumerate(self._actions()):
            elapsed += self._registers[self._kind.holds[stage]] / self._tick_hz()
            if action in self._kind.resets:
                return elapsed, self._kind.resets[action]
        return None

    def _actions(self) -> list[int]:
        """What the stages do, in order; none when it sleeps."""
        kind, config = self._kind, self._registers[self._kind.config]
        if config & _ENABLE:
            return [config >> shift & kind.stage_mask for shift in kind.stage_shifts]
        if kind.flash_boot and config & kind.flash_boot[0]:
            return [kind.flash_boot[1]]
        return []

    def _tick_hz(self) -> float:
        if self._kind.prescaler is None:
            return self._kind.clock_hz
        return self._kind.clock_hz / max(self._registers[self._kind.prescaler] >> 16, 1)
