"""The esptool flasher: what harness sees of it. esptool, which is GPL, is imported in the worker process only."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress

from harness.domain.dut import Dut, Probe
from harness.domain.firmware import FlashSegment
from harness.errors import HarnessError
from harness.flashers.messages import Message
from harness.flashers.process import Process, Program
from harness.ports import FlashSession, Line, Progress

PROGRAM = Program(
    name="esptool",
    worker="harness.flashers.esptool.worker",
    device="the chip",
    hung_hint="unplug the board, plug it in again, and run again",
    ended_hint="is esptool installed? pip install 'harness[esp32]'",
)
DEFAULT_SILENCE_S = 30.0
"""Longer than all attempts to connect, and than erasing a megabyte, which takes the flash up to 10 s."""
_RESET_S = 0.1
"""How long EN is low: longer than its capacitor takes.

Source: ESP32 Hardware Design Guidelines, "Chip Power-up and Reset Timing".
"""


class EsptoolFlasher:
    """Writes and starts ESP32 chips through their serial port.

    Args:
        silence_s: how long a call may give no sign of life before esptool is killed.
    """

    uses_probe = False

    def __init__(self, silence_s: float = DEFAULT_SILENCE_S) -> None:
        self._silence_s = silence_s
        self._process: Process | None = None

    def prepare(self) -> None:
        """Start the esptool process, so that it is ready when it is needed. Returns at once."""
        self._running()

    def close(self) -> None:
        """End the esptool process."""
        if self._process is not None:
            self._process.kill()

    def probes(self) -> Sequence[Probe]:
        """None: the serial port is all it takes."""
        return ()

    @contextmanager
    def connect(self, dut: Dut) -> Iterator[FlashSession]:
        """Connect to the chip of `dut`; the chip runs what is in its flash when the context ends.

        Raises:
            ProbeError: the chip does not answer, or esptool ended.
            SerialPortError: the port cannot be opened.
            WrongDeviceError: another chip than the board's.
            DeadlineError: esptool hung.
        """
        session = EsptoolSession(self._running(), dut)
        session.connect()
        try:
            yield session
        finally:
            session.disconnect(restart=True)

    def _running(self) -> Process:
        if self._process is None or not self._process.alive:
            self._process = Process(PROGRAM, self._silence_s)
        return self._process


class EsptoolSession:
    """A chip behind a serial port, which either esptool has open or the line to the firmware.

    Args:
        process: runs esptool.
        dut: the unit.
    """

    def __init__(self, process: Process, dut: Dut) -> None:
        self._process = process
        self._dut = dut
        self._mac: str | None = None
        self._connected = False

    def connect(self) -> None:
        """Have the chip wait for commands, unless it does; it must be the same chip as before."""
        if self._connected:
            return
        request = {
            "call": "connect",
            "port": self._dut.port,
            "target": self._dut.board.flash_target,
            "flash_bytes": self._dut.board.flash_end,
            "mac": self._mac,
        }
        self._mac = self._call(Message(request), "connecting").fields["mac"]
        self._connected = True

    def disconnect(self, *, restart: bool) -> None:
        """Give the port back. Does nothing when esptool had to be killed.

        Args:
            restart: whether the chip is to start what is in its flash, if it waits for commands.
        """
        request = Message({"call": "disconnect", "restart": restart and self._connected})
        self._connected = False
        if self._process.alive:
            self._call(request, "disconnecting")

    def read(self, address: int, size_bytes: int) -> bytes:
        """Read flash; see `FlashSession.read`."""
        self.connect()
        request = {"call": "read", "address": address, "size_bytes": size_bytes}
        return self._call(Message(request), f"reading {size_bytes:,} bytes at {address:#010x}").data

    def write(self, segment: FlashSegment, progress: Progress) -> None:
        """Erase, program and compare.

        An interrupted write leaves no end behind that a later one could take for its own: the last sector
        is erased first and programmed last.
        """
        self.connect()
        size = len(segment.data)

        def report(done: float) -> None:
            progress("flash", round(done * size), size)

        request = Message({"call": "write", "address": segment.address}, segment.data)
        self._call(request, f"writing {size:,} bytes at {segment.address:#010x}", report)

    def start(self, open_line: Callable[[], Line]) -> Line:
        """Hold the chip in reset while the line is emptied, and let it start: nothing that it says is lost."""
        self.disconnect(restart=False)
        line = open_line()
        try:
            self.restart(line)
        except BaseException:
            line.close()
            raise
        return line

    def restart(self, line: Line) -> None:
        """Pulse EN, GPIO0 being high: the chip starts what is in its flash."""
        line.set_control(dtr=False, rts=True)
        time.sleep(_RESET_S)
        with suppress(HarnessError):
            while line.read(0):  # what it said before must not be taken for what it says now
                pass
        line.set_control(dtr=False, rts=False)

    def _call(self, request: Message, doing: str, report: Callable[[float], None] = lambda done: None) -> Message:
        try:
            return self._process.call(request, doing, self._dut.port, report)
        except HarnessError:
            self._connected = False  # after an error esptool has to begin anew
            raise
