"""A whole DevKitC, and the life of its process: between serial port, reset circuit, chip and control socket."""

from __future__ import annotations

import mmap
import os
import select
import signal
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from harness.virtual.control_socket import ControlSocket
from harness.virtual.esp32.chip import Chip, Mode
from harness.virtual.esp32.control import Control
from harness.virtual.esp32.devkit import AutoReset
from harness.virtual.esp32.faults import Esp32Faults
from harness.virtual.esp32.flash import SpiFlash
from harness.virtual.esp32.memory_map import FLASH_BYTES
from harness.virtual.esp32.resets import ResetCause
from harness.virtual.esp32.serial_port import SerialPort
from harness.virtual.flash_array import open_flash

_LONGEST_SLEEP_S = 1.0
_SLOW_READER_S = 0.002
_GATHER_S = 0.001
"""The core's output is taken in handfuls: waking up for each byte would slow down both sides."""
_WAKE_BYTES = 4096


def power_up(name: str, flash_file: Path | None, link_path: Path) -> Board:
    """A board that is powered up: see `harness.virtual.server.PowerUp`."""
    return Board(name, open_flash(flash_file, FLASH_BYTES), link_path)


class Board:
    """One virtual DevKitC, powered up.

    Args:
        name: from which its MAC address is made.
        array: the flash array.
        control_path: where to listen for control commands.

    Raises:
        ToolchainError: the guest shim cannot be assembled.
        StorageError: one cannot listen.
    """

    def __init__(self, name: str, array: mmap.mmap, control_path: Path) -> None:
        self._faults = Esp32Faults()
        flash = SpiFlash(array, self._faults)
        self._circuit = AutoReset()
        self._port = SerialPort(self._faults.line, self._lines_changed)
        self._chip = Chip(name, flash, self._faults, self._port.send)
        self._control = ControlSocket(control_path, Control(flash, self._faults, self._press_reset, self._state).answer)
        self._lifelines: list[int] = []
        self._ended = False
        self._wake_reader, self._wake_writer = os.pipe()
        os.set_blocking(self._wake_writer, False)
        self._gather_until = 0.0
        self._chip.start(ResetCause.POWER_ON, download=False)

    @property
    def port(self) -> str:
        """Its serial port."""
        return self._port.url

    def end_when_closed(self, descriptor: int) -> None:
        """End when the other side of a pipe is closed."""
        self._lifelines.append(descriptor)

    def run(self) -> None:
        """Be the board until SIGTERM or SIGINT, or until a lifeline is closed."""
        signal.set_wakeup_fd(self._wake_writer)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._end)
        while not self._ended:
            self._wait()
            self._circuit.elapse(time.monotonic())
            self._follow_enable()
            self._chip.elapse()
            self._unplug_if_due()

    def close(self) -> None:
        """End everything that belongs to it."""
        self._control.close()
        self._port.close()
        self._chip.hold()  # last: a port that is let go of lets the chip start

    def _end(self, _number: int, _frame: object) -> None:
        self._ended = True

    def _wait(self) -> None:
        """Sleep until something happens or is due; then see to whatever has arrived."""
        now = time.monotonic()
        handlers = self._handlers(now)
        ready, _, _ = select.select(list(handlers), [], [], self._sleep_s(now))
        for descriptor in ready:
            handlers[descriptor]()
        self._port.flush()
        if self._chip.core is not None:
            self._chip.core.flush()

    def _handlers(self, now: float) -> dict[int, Callable[[], object]]:
        """What to do when a descriptor becomes readable; those that have to wait for another's room are left out."""
        core, client = self._chip.core, self._port.client
        handlers: dict[int, Callable[[], object]] = {
            self._wake_reader: lambda: os.read(self._wake_reader, _WAKE_BYTES),
            self._port.listener.fileno(): self._port.accept,
        }
        handlers |= {descriptor: partial(self._watch_lifeline, descriptor) for descriptor in self._lifelines}
        handlers |= {each.fileno(): partial(self._control.attend, each) for each in self._control.sockets}
        if client is not None and not self._core_is_full:
            handlers[client.fileno()] = self._receive
        if core is not None and now >= self._gather_until and not self._port.pending:
            handlers[core.fileno()] = self._attend_core
        return handlers

    @property
    def _core_is_full(self) -> bool:
        return self._chip.core is not None and self._chip.core.pending

    def _sleep_s(self, now: float) -> float:
        due = [self._circuit.deadline, self._chip.deadline, now + _LONGEST_SLEEP_S]
        if now < self._gather_until:
            due.append(self._gather_until)
        if self._port.pending or self._core_is_full:
            due.append(now + _SLOW_READER_S)
        return max(0.0, min(moment for moment in due if moment is not None) - now)

    def _watch_lifeline(self, descriptor: int) -> None:
        self._ended = self._ended or not os.read(descriptor, _WAKE_BYTES)

    def _attend_core(self) -> None:
        self._chip.attend()
        self._gather_until = time.monotonic() + _GATHER_S

    def _receive(self) -> None:
        data = self._port.receive(self._chip.baud)
        if data is None:
            self._port.hang_up()
        elif data:
            self._chip.receive(data)

    def _lines_changed(self, dtr: bool, rts: bool) -> None:
        """The reset circuit follows the lines at once: the next line may change in the same breath."""
        self._circuit.set_lines(time.monotonic(), dtr=dtr, rts=rts)
        self._follow_enable()

    def _follow_enable(self) -> None:
        if not self._circuit.enabled:
            if self._chip.mode is not Mode.HELD:
                self._chip.hold()
        elif self._chip.mode is Mode.HELD:
            self._chip.start(ResetCause.POWER_ON, download=self._circuit.download_strap)

    def _press_reset(self) -> None:
        self._chip.start(ResetCause.POWER_ON, download=self._circuit.download_strap)

    def _unplug_if_due(self) -> None:
        limit = self._faults.loader.unplug_after_blocks
        if limit is not None and self._chip.blocks_written >= limit:
            self._faults.loader.unplug_after_blocks = None
            self._port.hang_up()

    def _state(self) -> dict[str, object]:
        return {
            "mode": self._chip.mode.value,
            "reset_cause": self._chip.cause.name.lower(),
            "trouble": self._chip.trouble,
            "baud": self._chip.baud,
            "mac": self._chip.mac.hex(":"),
            "core_pid": self._chip.core.pid if self._chip.core is not None else None,
        }
