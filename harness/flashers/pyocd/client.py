"""The pyOCD flasher: what harness sees of it. pyOCD itself is imported in the worker process only."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from harness.domain.dut import VIRTUAL_PROBE_PREFIX, Dut, Probe
from harness.domain.firmware import FlashSegment
from harness.errors import ProbeError
from harness.files import locks
from harness.files.folders import runtime_folder
from harness.flashers.messages import Message
from harness.flashers.process import Process, Program
from harness.ports import FlashSession, Line, Progress

PROGRAM = Program(
    name="pyOCD",
    worker="harness.flashers.pyocd.worker",
    device="the probe",
    hung_hint="unplug the probe, plug it in again, and run again",
    ended_hint="run again; `pyocd list` shows whether pyOCD itself works",
)
DEFAULT_SILENCE_S = 20.0
"""Longer than the slowest single step: erasing a 128 KB sector takes up to 4 s (STM32F407 data sheet, table 40)."""


class PyocdFlasher:
    """Writes and starts chips through debug probes that pyOCD knows.

    Args:
        silence_s: how long a call may give no sign of life before pyOCD is killed.
    """

    uses_probe = True

    def __init__(self, silence_s: float = DEFAULT_SILENCE_S) -> None:
        self._silence_s = silence_s
        self._process: Process | None = None

    def prepare(self) -> None:
        """Start the pyOCD process, so that it is ready when it is needed. Returns at once."""
        self._running()

    def close(self) -> None:
        """End the pyOCD process."""
        if self._process is not None:
            self._process.kill()

    def probes(self) -> Sequence[Probe]:
        """What is plugged in, virtual probes included.

        Raises:
            ProbeError, DeadlineError: pyOCD cannot look.
        """
        reply = self._running().call(Message({"call": "probes"}), "looking for probes", "any probe")
        return [Probe(**fields) for fields in reply.fields["probes"]]

    @contextmanager
    def connect(self, dut: Dut) -> Iterator[FlashSession]:
        """Connect to the chip of `dut`; the chip runs on when the context ends.

        Raises:
            ProbeError: no such probe, or it does not answer, or another program uses it.
            WrongDeviceError: another chip than the board's.
            LockedError: read-out protection.
            DeadlineError: the probe hung.
        """
        probe_id = dut.probe_id or self._only_probe()
        with locks.hold(_lock_name(probe_id), ProbeError):
            session = PyocdSession(self._running(), probe_id)
            session.connect(dut.board.flash_target, dut.board.connect_mode)
            try:
                yield session
            finally:
                session.disconnect()

    def _running(self) -> Process:
        if self._process is None or not self._process.alive:
            self._process = Process(PROGRAM, self._silence_s)
        return self._process

    def _only_probe(self) -> str:
        found = self.probes()
        if len(found) != 1:
            names = ", ".join(probe.unique_id for probe in found)
            raise ProbeError(
                "several probes" if found else "no debug probe",
                measured=names or None,
                hint="choose one with --probe" if found else "is it plugged in? Its udev rule: harness doctor --udev",
            )
        return found[0].unique_id


def _lock_name(probe_id: str) -> str:
    """Probes are of one machine, and virtual ones of one user's session."""
    whose = f" in {runtime_folder().path}" if probe_id.startswith(VIRTUAL_PROBE_PREFIX) else ""
    return f"probe {probe_id}{whose}"


class PyocdSession:
    """A chip that a probe is connected to.

    Args:
        process: holds the connection.
        probe_id: the probe's unique id.
    """

    def __init__(self, process: Process, probe_id: str) -> None:
        self._process = process
        self._probe_id = probe_id

    def connect(self, target: str, connect_mode: str) -> None:
        """Connect and halt the chip, which pyOCD calls `target`."""
        request = {"call": "connect", "probe_id": self._probe_id, "target": target, "connect_mode": connect_mode}
        self._call(request, "connecting")

    def disconnect(self) -> None:
        """Let the chip run and give the probe back. Does nothing when pyOCD had to be killed."""
        if self._process.alive:
            self._call({"call": "disconnect"}, "disconnecting")

    def read(self, address: int, size_bytes: int) -> bytes:
        """Read memory; see `FlashSession.read`."""
        request = {"call": "read", "address": address, "size_bytes": size_bytes}
        return self._call(request, f"reading {size_bytes:,} bytes at {address:#010x}").data

    def write(self, segment: FlashSegment, progress: Progress) -> None:
        """Erase, program, read back and compare; see `FlashSession.write`."""
        size = len(segment.data)

        def report(done: float) -> None:
            progress("flash", round(done * size), size)

        request = Message({"call": "write", "address": segment.address}, segment.data)
        doing = f"writing {size:,} bytes at {segment.address:#010x}"
        self._process.call(request, doing, f"probe {self._probe_id}", report)

    def registers(self, mapped: Mapping[str, int]) -> Mapping[str, int]:
        """Halt the core and read its registers; see `Inspectable.registers`."""
        request = {"call": "registers", "mapped": dict(mapped)}
        registers: Mapping[str, int] = self._call(request, "reading registers").fields["registers"]
        return registers

    def is_halted(self) -> bool:
        """Whether a debugger has halted the core; see `HaltWatcher.is_halted`."""
        halted: bool = self._call({"call": "is_halted"}, "looking at the core").fields["halted"]
        return halted

    def start(self, open_line: Callable[[], Line]) -> Line:
        """Reset and halt, open the line, resume: nothing that the chip says is lost."""
        self._call({"call": "reset_and_halt"}, "resetting")
        line = open_line()
        try:
            self._call({"call": "resume"}, "starting the chip")
        except BaseException:
            line.close()
            raise
        return line

    def restart(self, line: Line) -> None:
        """Reset the chip and let it run, the line staying open."""
        self._call({"call": "reset_and_halt"}, "resetting")
        self._call({"call": "resume"}, "starting the chip")

    def _call(self, fields: Mapping[str, Any], doing: str) -> Message:
        return self._process.call(Message(fields), doing, f"probe {self._probe_id}")
