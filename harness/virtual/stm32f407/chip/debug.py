"""Halting debug: DHCSR, DCRSR, DCRDR, DEMCR, and the breakpoint unit (ARMv7-M sections C1.6 and C1.11)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Protocol

from harness.virtual.stm32f407.chip import faultstatus

DHCSR, DCRSR, DCRDR, DEMCR = 0x0, 0x4, 0x8, 0xC
C_DEBUGEN, C_HALT, C_STEP = 1 << 0, 1 << 1, 1 << 2
_C_KEPT = 0x2D
S_REGRDY, S_HALT, S_SLEEP, S_LOCKUP, S_RETIRE_ST, S_RESET_ST = 1 << 16, 1 << 17, 1 << 18, 1 << 19, 1 << 24, 1 << 25
_DBGKEY = 0xA05F
_WRITE_REGISTER = 1 << 16
_VC_CORERESET, _TRCENA = 1 << 0, 1 << 24
_CATCHES: Mapping[int, int] = MappingProxyType(
    {
        faultstatus.HARD_FAULT: 1 << 10,
        faultstatus.MEM_MANAGE: 1 << 4,
        faultstatus.BUS_FAULT: 1 << 8,
        faultstatus.USAGE_FAULT: 0b111 << 5,
    }
)

CODE_COMPARATORS = 6
_FP_CTRL_CONSTANT = 0x260  # 6 code and 2 literal comparators
_FP_KEY, _FP_ENABLE = 1 << 1, 1 << 0


class RunControl(Protocol):
    """What the debug registers do to the core."""

    halted: bool

    @property
    def locked_up(self) -> bool:
        """Whether the core stands still after a fault in a fault handler."""

    @property
    def sleeping(self) -> bool:
        """Whether the core waits for an interrupt."""

    @property
    def in_instruction(self) -> bool:
        """Whether the core itself is the one who accesses the registers now."""

    def halt(self) -> None:
        """Enter debug state."""

    def resume(self) -> None:
        """Leave debug state."""

    def step(self) -> None:
        """Execute one instruction and stay in debug state."""

    def read_selected(self, selector: int) -> int:
        """A core register by DCRSR's numbers."""

    def write_selected(self, selector: int, value: int) -> None:
        """Set a core register by DCRSR's numbers."""


class Debug:
    """The debug registers.

    Args:
        target: the core under control.
    """

    def __init__(self, target: RunControl) -> None:
        self._target = target
        self.power_on()

    def power_on(self) -> None:
        """As after a power-on reset; other resets leave the debug logic alone."""
        self._control = self._monitor = self._data = 0
        self._reset_seen = True

    def note_reset(self) -> None:
        """Remember that the core was reset, until the debugger has looked."""
        self._reset_seen = True

    @property
    def enabled(self) -> bool:
        """Whether a debugger is attached (C_DEBUGEN)."""
        return bool(self._control & C_DEBUGEN)

    @property
    def trace_enabled(self) -> bool:
        """Whether the cycle counter may count (TRCENA)."""
        return bool(self._monitor & _TRCENA)

    def catches_reset(self) -> bool:
        """Whether the core is to halt when it comes out of reset."""
        return self.enabled and bool(self._monitor & _VC_CORERESET)

    def catches(self, exception: int) -> bool:
        """Whether the core is to halt when it enters an exception."""
        return self.enabled and bool(self._monitor & _CATCHES.get(exception, 0))

    def read(self, offset: int) -> int:
        """A register."""
        if offset == DHCSR:
            return self._status()
        if offset == DCRDR:
            return self._data
        return self._monitor if offset == DEMCR else 0

    def write(self, offset: int, value: int, mask: int) -> None:
        """A register; software on the core cannot control its own halting."""
        if offset == DEMCR:
            self._monitor = self._monitor & ~mask | value
        elif self._target.in_instruction:
            return
        elif offset == DHCSR:
            self._write_control(value)
        elif offset == DCRDR:
            self._data = value
        elif offset == DCRSR and self._target.halted:
            self._transfer(value & 0x7F, bool(value & _WRITE_REGISTER))

    def _status(self) -> int:
        target = self._target
        status = self._control | S_REGRDY | S_RETIRE_ST
        status |= S_HALT | C_HALT if target.halted else 0
        status |= S_LOCKUP if target.locked_up else 0
        status |= S_SLEEP if target.sleeping else 0
        if not target.in_instruction:
            status |= S_RESET_ST if self._reset_seen else 0
            self._reset_seen = False
        return status

    def _write_control(self, value: int) -> None:
        if value >> 16 != _DBGKEY:
            return
        self._control = value & _C_KEPT
        if not value & C_DEBUGEN:
            self._target.resume()
        elif value & C_HALT:
            self._target.halt()
        elif value & C_STEP and self._target.halted:
            self._target.step()
        else:
            self._target.resume()

    def _transfer(self, selector: int, write: bool) -> None:
        if write:
            self._target.write_selected(selector, self._data)
        else:
            self._data = self._target.read_selected(selector)


class BreakpointUnit:
    """FPB version 1 at 0xE0002000: breakpoints on instructions below 0x20000000; remapping is not modelled.

    Args:
        changed: called with the addresses to stop at.
    """

    def __init__(self, changed: Callable[[Sequence[int]], None]) -> None:
        self._changed = changed
        self._enabled = False
        self._comparators = [0] * 8

    def power_on(self) -> None:
        """As after a power-on reset; other resets leave the debug logic alone."""
        self._enabled = False
        self._comparators = [0] * 8
        self._changed([])

    def addresses(self) -> list[int]:
        """Where to stop."""
        if not self._enabled:
            return []
        return [address for value in self._comparators[:CODE_COMPARATORS] for address in _matched(value)]

    def read(self, offset: int) -> int:
        """A register."""
        if offset == 0:
            return _FP_CTRL_CONSTANT | self._enabled
        index = (offset - 8) // 4
        return self._comparators[index] if 0 <= index < len(self._comparators) else 0

    def write(self, offset: int, value: int, mask: int) -> None:
        """A register; they are written by words."""
        index = (offset - 8) // 4
        if offset == 0 and value & _FP_KEY:
            self._enabled = bool(value & _FP_ENABLE)
        elif 0 <= index < len(self._comparators):
            self._comparators[index] = value & mask
        self._changed(self.addresses())


def _matched(comparator: int) -> list[int]:
    """The instruction addresses that a comparator matches: bits 31 and 30 choose halfwords of its word."""
    if not comparator & 1:
        return []
    word = comparator & 0x1FFFFFFC
    return [word + 2 * half for half in (0, 1) if comparator >> 30 + half & 1]
