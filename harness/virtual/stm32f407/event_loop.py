"""Event loop of a board: runs it in slices, and between them answers its debug link and its serial line."""

from __future__ import annotations

import os
import select
import signal
import socket
import time
from pathlib import Path

from harness.virtual.control_socket import ControlSocket
from harness.virtual.stm32f407.chip.machine import Machine
from harness.virtual.stm32f407.faults import Faults
from harness.virtual.stm32f407.serial_line import SerialLine
from harness.virtual.stm32f407.service import Service

_ATTENTIVE_SLICE, _LONG_SLICE = 20_000, 1_000_000
"""Instructions per slice: well below a millisecond while a debugger has spoken lately, some milliseconds otherwise."""
_ATTENTION_S = 0.05
_SLOW_LINE_S = 0.001
"""How long to wait before trying again to hand over bytes that a reader had no room for, or that a fault holds back."""
_RECEIVED_BYTES = 1 << 16


class EventLoop:
    """The life of one board's process. From now on SIGTERM and SIGINT end it in an orderly way.

    Args:
        machine: the board.
        line: its serial line.
        faults: what is broken about the board.
        path: where to listen.

    Raises:
        StorageError: one cannot listen there.
    """

    def __init__(self, machine: Machine, line: SerialLine, faults: Faults, path: Path) -> None:
        self._machine = machine
        self._line = line
        service = Service(machine, faults)
        self._triggers = service.triggers
        self._control = ControlSocket(path, service.answer)
        self._link: dict[int, socket.socket] = {}
        self._lifelines: set[int] = set()
        self._attentive_until = 0.0
        self._ended = False
        self._wake_reader, self._wake_writer = os.pipe()
        os.set_blocking(self._wake_writer, False)
        self._poller = select.epoll()
        # Edge-triggered: a line that nobody has open is in a lasting state of hang-up.
        self._poller.register(line.fileno(), select.EPOLLIN | select.EPOLLET)
        self._poller.register(self._wake_reader, select.EPOLLIN)
        self._watch_link()
        signal.set_wakeup_fd(self._wake_writer)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._end)

    @property
    def port(self) -> str:
        """The board's serial port."""
        return self._line.port

    def end_when_closed(self, descriptor: int) -> None:
        """End when the other side of a pipe is closed."""
        self._lifelines.add(descriptor)
        self._poller.register(descriptor, select.EPOLLIN | select.EPOLLHUP)

    def run(self) -> None:
        """Be the board until a signal ends it, or a lifeline is closed."""
        while not self._ended:
            self._wait()
            before = self._machine.cycles
            limit = _ATTENTIVE_SLICE if time.monotonic() < self._attentive_until else _LONG_SLICE
            self._machine.run(self._triggers.cycles_left(limit))
            self._triggers.note_cycles(self._machine.cycles - before)

    def close(self) -> None:
        """Hang up everywhere."""
        self._control.close()
        self._line.close()

    def _end(self, _number: int, _frame: object) -> None:
        self._ended = True

    def _wait(self) -> None:
        """Sleep while the board rests; then see to whatever has arrived."""
        idle_s = self._machine.idle_s()
        if self._line.pending:
            idle_s = min(idle_s, _SLOW_LINE_S)
        started = time.monotonic()
        events = self._poller.poll(idle_s)
        if idle_s:
            self._machine.elapse(time.monotonic() - started)
        if self._line.pending:
            self._line.flush()
            self._receive()
        for descriptor, _ in events:
            self._see_to(descriptor)

    def _see_to(self, descriptor: int) -> None:
        if descriptor in self._link:
            self._attend(self._link[descriptor])
        elif descriptor == self._line.fileno():
            self._receive()
        elif descriptor in self._lifelines:
            self._ended = self._ended or not os.read(descriptor, _RECEIVED_BYTES)
        else:
            os.read(self._wake_reader, _RECEIVED_BYTES)

    def _receive(self) -> None:
        self._triggers.note_heard(self._machine.receive())

    def _attend(self, connection: socket.socket) -> None:
        """See to the link; its connections come and go."""
        self._attentive_until = time.monotonic() + _ATTENTION_S
        self._control.attend(connection)
        self._watch_link()

    def _watch_link(self) -> None:
        """Wait for all of the link's sockets; the kernel stops waiting for closed ones by itself."""
        sockets = {each.fileno(): each for each in self._control.sockets}
        for descriptor in sockets.keys() - self._link.keys():
            self._poller.register(descriptor, select.EPOLLIN)
        self._link = sockets
