"""A virtual board's serial line: a pseudo-terminal whose other end looks like a serial port."""

from __future__ import annotations

import fcntl
import os
import select
import struct
import time
import tty

from harness.virtual.line_speed import as_received
from harness.virtual.stm32f407.faults import Faults

_TCGETS2 = 0x802C542A
_TERMIOS2 = struct.Struct("<4I B19s 2I")
"""Linux's struct termios2: four flag words, line discipline, control characters, input and output speed."""
_QUEUE_BYTES, _PIECE_BYTES = 1 << 20, 4096


class SerialLine:
    """The board's end of the line.

    Attributes:
        port: the path of the end that a user opens.

    Args:
        faults: what the line does to bytes.
    """

    def __init__(self, faults: Faults) -> None:
        self._faults = faults
        self._master, user_end = os.openpty()
        tty.setraw(user_end)
        self.port = os.ttyname(user_end)
        os.close(user_end)  # so that the kernel tells whether anybody has it open
        os.set_blocking(self._master, False)
        self._hangup = select.poll()
        self._hangup.register(self._master, 0)
        self._queue = bytearray()
        self._arrived = bytearray()

    def fileno(self) -> int:
        """For waiting until something arrives."""
        return self._master

    def close(self) -> None:
        """Unplug it."""
        os.close(self._master)

    @property
    def pending(self) -> bool:
        """Whether bytes wait: for a slow reader, or for a fault to let them pass."""
        return bool(self._queue or self._arrived)

    def receive(self, device_baud: float) -> bytes:
        """What has arrived from the user, as the device's receiver takes it."""
        received = b""
        try:
            while piece := os.read(self._master, _PIECE_BYTES):
                received += piece
        except OSError:
            pass  # nothing more, or nobody there
        self._arrived += self._faults.line.to_device.apply(self._at_speed(received, device_baud))
        released = self._faults.line.to_device.released_bytes(time.monotonic()) if self._arrived else None
        passed = bytes(self._arrived[:released])
        del self._arrived[:released]
        if passed:
            self._faults.line.to_device.note_released(len(passed))
        return passed

    def send(self, data: bytes, device_baud: float) -> None:
        """Put bytes on the line. What nobody reads is lost, as on a real line."""
        self._queue += self._faults.line.from_device.apply(self._at_speed(data, device_baud))
        del self._queue[_QUEUE_BYTES:]
        self.flush()

    def flush(self) -> None:
        """Hand over what the reader has room for."""
        if self._hangup.poll(0):
            self._queue.clear()
        try:
            while piece := self._next_piece():
                written = os.write(self._master, piece)
                del self._queue[:written]
                self._faults.line.from_device.note_released(written)
        except BlockingIOError:
            pass

    def _next_piece(self) -> bytes:
        """What may be handed over next."""
        released = self._faults.line.from_device.released_bytes(time.monotonic())
        return bytes(self._queue[: _PIECE_BYTES if released is None else min(released, _PIECE_BYTES)])

    def _at_speed(self, data: bytes, device_baud: float) -> bytes:
        """The bytes as they come out when both ends have their own idea of the speed."""
        if not data:
            return data  # without asking the kernel for a speed
        return as_received(data, device_baud * self._faults.clock.baud_factor, self._user_baud())

    def _user_baud(self) -> int:
        """The speed that the user has set."""
        answer = fcntl.ioctl(self._master, _TCGETS2, bytes(_TERMIOS2.size))
        speed: int = _TERMIOS2.unpack(answer)[-1]
        return speed
