"""USART2 at 0x40004400 (RM0090 section 30): bytes take their time on the line, and are lost when not fetched in it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from harness.virtual.stm32f407.chip.clocks import ResetAndClocks
from harness.virtual.stm32f407.chip.timebase import Timebase
from harness.virtual.stm32f407.serial_line import SerialLine

SR, DR, BRR, CR1, CR2, CR3 = 0x00, 0x04, 0x08, 0x0C, 0x10, 0x14
INTERRUPT = 38
_ORE, _RXNE, _TC, _TXE = 1 << 3, 1 << 5, 1 << 6, 1 << 7
_RE, _TE, _UE, _OVER8 = 1 << 2, 1 << 3, 1 << 13, 1 << 15
_INTERRUPT_ENABLES = _RXNE | _TC | _TXE  # the enable bits of CR1 stand where the flags of SR do
_BITS_PER_BYTE = 10
_POLLS_WHEN_IDLE = 50
_POLL_GAP_CYCLES = 2000
"""Polls that are further apart are no waiting loop."""
_BUFFER_BYTES = 4096


class Usart:
    """The serial port.

    Args:
        time: emulated time.
        clocks: where its clock comes from.
        line: what it is connected to.
        interrupt_slice: called when there is reason to look at the line: software waits for it, or much is to be sent.
    """

    def __init__(
        self, time: Timebase, clocks: ResetAndClocks, line: SerialLine, interrupt_slice: Callable[[], None]
    ) -> None:
        self._time = time
        self._clocks = clocks
        self._line = line
        self._interrupt_slice = interrupt_slice
        self._outgoing = bytearray()
        self._outgoing_baud = 0.0
        self.reset()

    def reset(self) -> None:
        """As after a system reset."""
        self.flush()
        self._registers = dict.fromkeys((BRR, CR1, CR2, CR3, 0x18), 0)
        self._arriving: deque[tuple[int, int]] = deque()
        self._received: int | None = None
        self._overrun = False
        self._sent_at = 0
        self.rest()

    @property
    def waiting(self) -> bool:
        """Whether software polls for a byte, and none is on its way."""
        return self._idle_polls >= _POLLS_WHEN_IDLE

    def rest(self) -> None:
        """Count polls from zero."""
        self._idle_polls = 0
        self._last_poll = 0

    def baud(self) -> float:
        """Bits per second, by BRR and the clock as it is; 0 while it is off."""
        if not self._registers[CR1] & _UE or not self._registers[BRR]:
            return 0.0
        divider = self._registers[BRR]
        if self._registers[CR1] & _OVER8:
            divider = divider >> 4 << 3 | divider & 7
        return self._clocks.apb1_hz() / divider

    def flush(self) -> None:
        """Hand what was sent to the line."""
        if self._outgoing:
            self._line.send(bytes(self._outgoing), self._outgoing_baud)
            self._outgoing.clear()

    def deliver(self) -> bytes:
        """Take what has arrived on the line, and return it; the bytes come in one after the other at its speed."""
        baud = self.baud()
        data = self._line.receive(baud)
        if not baud or not self._registers[CR1] & _RE:
            return b""
        byte_cycles = self._byte_cycles(baud)
        start = max(self._time.now(), self._arriving[-1][0] if self._arriving else 0)
        self._arriving.extend((start + (i + 1) * byte_cycles, value) for i, value in enumerate(data))
        if data:
            self.rest()
        return data

    def interrupt_requested(self) -> bool:
        """Whether an enabled flag is set."""
        self._arrive()
        return bool(self._registers[CR1] & self._flags() & _INTERRUPT_ENABLES)

    def read(self, offset: int) -> int:
        """A register."""
        if offset == SR:
            self._poll()
            return self._flags()
        if offset == DR:
            return self._fetch()
        return self._registers.get(offset, 0)

    def write(self, offset: int, value: int, mask: int) -> None:
        """A register."""
        if offset == DR:
            self._send(value & 0xFF)
        elif offset in self._registers:
            self._registers[offset] = self._registers[offset] & ~mask | value

    def _byte_cycles(self, baud: float) -> int:
        return int(_BITS_PER_BYTE * self._clocks.core_hz() / baud)

    def _flags(self) -> int:
        flags = _RXNE if self._received is not None else 0
        flags |= _ORE if self._overrun else 0
        return flags | (_TXE | _TC if self._time.now() >= self._sent_at else 0)

    def _poll(self) -> None:
        """SR is looked at. When it has nothing to tell yet, time goes on to the moment when it has.

        A poll costs the emulator far more than it costs the chip; this makes up for it.
        """
        self._arrive()
        now = self._time.now()
        events = [self._sent_at] if self._sent_at > now else []
        if self._received is None and self._arriving:
            events.append(self._arriving[0][0])
        if events:
            self._time.skip(max(0, min(events) - now))
            self._arrive()
        elif self._received is None:
            self._count_idle_poll(now)

    def _count_idle_poll(self, now: int) -> None:
        self._idle_polls = self._idle_polls + 1 if now - self._last_poll < _POLL_GAP_CYCLES else 0
        self._last_poll = now
        if self.waiting:
            self._interrupt_slice()

    def _arrive(self) -> None:
        """Take in the bytes whose time has come; one that finds the last not fetched is lost."""
        now = self._time.now()
        while self._arriving and self._arriving[0][0] <= now:
            _, value = self._arriving.popleft()
            if self._received is None:
                self._received = value
            else:
                self._overrun = True

    def _fetch(self) -> int:
        self._arrive()
        value = self._received or 0
        self._received, self._overrun = None, False
        self.rest()
        return value

    def _send(self, value: int) -> None:
        baud = self.baud()
        self.rest()
        if not baud or not self._registers[CR1] & _TE:
            return
        self._outgoing_baud = baud
        self._outgoing.append(value)
        self._sent_at = max(self._time.now(), self._sent_at) + self._byte_cycles(baud)
        if len(self._outgoing) >= _BUFFER_BYTES:
            self._interrupt_slice()
