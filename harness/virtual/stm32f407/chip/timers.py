"""Things that count by themselves: SysTick (ARMv7-M section B3.3) and the independent watchdog (RM0090 section 21)."""

from __future__ import annotations

from collections.abc import Callable

from harness.virtual.stm32f407.chip.timebase import Timebase

CSR, RVR, CVR, CALIB = 0x0, 0x4, 0x8, 0xC
_ENABLE, _TICKINT, _CORE_CLOCK, _COUNTFLAG = 1 << 0, 1 << 1, 1 << 2, 1 << 16
NEVER = 1 << 62

KR, PR, RLR, SR = 0x0, 0x4, 0x8, 0xC
KEY_START, KEY_UNLOCK, KEY_RELOAD = 0xCCCC, 0x5555, 0xAAAA
LSI_HZ = 32_000


class SysTick:
    """The core's timer, at 0xE000E010.

    Args:
        time: emulated time.
        changed: called when the next tick has moved, so that a slice that runs can be cut short.
    """

    def __init__(self, time: Timebase, changed: Callable[[], None]) -> None:
        self._time = time
        self._changed = changed
        self.reset()

    def reset(self) -> None:
        """As after a system reset."""
        self._control = self._reload = 0
        self._counted_flag = False
        self._next = NEVER

    def cycles_to_tick(self) -> int:
        """How long until it reaches zero."""
        return max(0, self._next - self._time.now())

    def tick(self) -> bool:
        """Catch up with time; whether the exception is to be made pending."""
        late = self._time.now() - self._next
        if late < 0:
            return False
        self._next += (late // self._period() + 1) * self._period()
        self._counted_flag = True
        return bool(self._control & _TICKINT)

    def read(self, offset: int) -> int:
        """A register."""
        if offset == CSR:
            flag = _COUNTFLAG if self._counted_flag or self.cycles_to_tick() == 0 else 0
            self._counted_flag = False
            return self._control | flag
        if offset == CVR:
            return self.cycles_to_tick() // self._divider() % (self._reload + 1) if self._next != NEVER else 0
        return self._reload if offset == RVR else 0

    def write(self, offset: int, value: int, mask: int) -> None:
        """A register; they are written by words."""
        if offset == RVR:
            self._reload = value & 0xFFFFFF
            return
        if offset == CSR:
            started = value & _ENABLE and not self._control & _ENABLE
            self._control = value & mask & (_ENABLE | _TICKINT | _CORE_CLOCK)
        else:
            started = offset == CVR
            self._counted_flag = False
        if not self._control & _ENABLE or self._reload == 0:
            self._next = NEVER
        elif started or self._next == NEVER:
            self._next = self._time.now() + self._period()
        self._changed()

    def _divider(self) -> int:
        return 1 if self._control & _CORE_CLOCK else 8

    def _period(self) -> int:
        return (self._reload + 1) * self._divider()


class IndependentWatchdog:
    """IWDG at 0x40003000. Once started only a reset stops it."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """As after any reset."""
        self._prescaler, self._reload = 0, 0xFFF
        self._unlocked = False
        self._remaining_s: float | None = None

    @property
    def remaining_s(self) -> float | None:
        """Seconds until it resets the chip; None while it has not been started."""
        return self._remaining_s

    def elapse(self, seconds: float) -> bool:
        """Let time pass; whether it has run out."""
        if self._remaining_s is None:
            return False
        self._remaining_s -= seconds
        return self._remaining_s <= 0

    def read(self, offset: int) -> int:
        """A register."""
        return {PR: self._prescaler, RLR: self._reload}.get(offset, 0)

    def write(self, offset: int, value: int, mask: int) -> None:
        """A register; they are written by words or halfwords."""
        if offset == KR:
            self._take_key(value)
        elif self._unlocked and offset == PR:
            self._prescaler = value & mask & 7
        elif self._unlocked and offset == RLR:
            self._reload = value & mask & 0xFFF

    def _take_key(self, key: int) -> None:
        self._unlocked = key == KEY_UNLOCK
        if key == KEY_START or (key == KEY_RELOAD and self._remaining_s is not None):
            self._remaining_s = (self._reload + 1) * 4 * 2 ** min(self._prescaler, 6) / LSI_HZ
