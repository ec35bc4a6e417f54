"""Emulated time, in cycles of the core's clock. One instruction is one cycle: nothing here is a timing of silicon."""

from __future__ import annotations

from collections.abc import Callable


class Timebase:
    """How many cycles have passed since the process began. Never goes back.

    Args:
        in_slice: how many instructions the slice that runs now has executed.
    """

    def __init__(self, in_slice: Callable[[], int]) -> None:
        self._passed = 0
        self._in_slice = in_slice

    def now(self) -> int:
        """Cycles until now."""
        return self._passed + self._in_slice()

    def skip(self, cycles: int) -> None:
        """Let time pass without instructions."""
        self._passed += cycles
