"""Pending, active and enabled exceptions with their priorities, and the interrupt controller's registers (NVIC).

ARMv7-M sections B1.5.4 and B3.4. The STM32F407 has 82 interrupts and 16 priority levels; sub-priorities are not
modelled.
"""

from __future__ import annotations

from harness.virtual.stm32f407.chip import faultstatus

INTERRUPTS = 82
FIRST_INTERRUPT = 16
_PRIORITY_BITS = 0xF0
_THREAD_PRIORITY = 256
_FIXED = {faultstatus.NMI: -2, faultstatus.HARD_FAULT: -1}

_SET_ENABLE, _CLEAR_ENABLE, _SET_PENDING, _CLEAR_PENDING, _ACTIVE, _PRIORITY = 0x0, 0x80, 0x100, 0x180, 0x200, 0x300


class Interrupts:
    """The state of all exceptions; its registers start at 0xE000E100."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Nothing pending, active or enabled."""
        self.pending: set[int] = set()
        self.active: list[int] = []
        self._enabled: set[int] = set()
        self._priorities = bytearray(FIRST_INTERRUPT + INTERRUPTS + 2)

    def priority(self, exception: int) -> int:
        """An exception's priority: the lower, the more urgent."""
        return _FIXED.get(exception, self._priorities[exception])

    def priority_word(self, first: int) -> int:
        """The priorities of four exceptions, as a register holds them."""
        return int.from_bytes(self._priorities[first : first + 4], "little")

    def set_priority_word(self, first: int, value: int, mask: int) -> None:
        """Set those priorities, of four exceptions, whose bits are in `mask`."""
        word = self.priority_word(first) & ~mask | value
        self._priorities[first : first + 4] = bytes(each & _PRIORITY_BITS for each in word.to_bytes(4, "little"))

    def running_priority(self) -> int:
        """The priority of the most urgent active exception."""
        return min((self.priority(exception) for exception in self.active), default=_THREAD_PRIORITY)

    def next(self) -> int | None:
        """The most urgent pending exception that is enabled."""
        ready = [each for each in self.pending if each < FIRST_INTERRUPT or each - FIRST_INTERRUPT in self._enabled]
        return min(ready, key=lambda each: (self.priority(each), each), default=None)

    def read(self, offset: int) -> int:
        """A register of the interrupt controller."""
        if offset >= _PRIORITY:
            return self.priority_word(FIRST_INTERRUPT + offset - _PRIORITY) if offset < _PRIORITY + INTERRUPTS else 0
        if offset < _SET_PENDING:
            return _word(self._enabled, offset % 0x80)
        if offset < _ACTIVE:
            return _word({each - FIRST_INTERRUPT for each in self.pending}, offset % 0x80)
        return _word({each - FIRST_INTERRUPT for each in self.active}, offset % 0x80)

    def write(self, offset: int, value: int, mask: int) -> None:
        """A register of the interrupt controller."""
        if offset >= _PRIORITY:
            if offset < _PRIORITY + INTERRUPTS:
                self.set_priority_word(FIRST_INTERRUPT + offset - _PRIORITY, value, mask)
            return
        numbers = {offset % 0x80 * 8 + bit for bit in range(32) if value >> bit & 1} & set(range(INTERRUPTS))
        exceptions = {FIRST_INTERRUPT + number for number in numbers}
        if offset < _CLEAR_ENABLE:
            self._enabled |= numbers
        elif offset < _SET_PENDING:
            self._enabled -= numbers
        elif offset < _CLEAR_PENDING:
            self.pending |= exceptions
        elif offset < _ACTIVE:
            self.pending -= exceptions


def _word(numbers: set[int], byte_offset: int) -> int:
    """32 of the numbers' bits, from a byte offset on."""
    return sum(1 << bit for bit in range(32) if byte_offset * 8 + bit in numbers)
