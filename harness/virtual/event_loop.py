"""Runs a board in slices, and between them answers its debug link and its serial line."""

from __future__ import annotations

import os
import select
import signal
import socket
import time
from pathlib import Path

from harness.errors import ProtocolError, StorageError
from harness.virtual import link
from harness.virtual.faults import Faults
from harness.virtual.serial_line import SerialLine
from harness.virtual.service import Service
from harness.virtual.stm32f407.machine import Machine

_ATTENTIVE_SLICE, _LONG_SLICE = 20_000, 1_000_000
"""Instructions per slice: well below a millisecond while a debugger has spoken lately, some milliseconds otherwise."""
_ATTENTION_S = 0.05
_SLOW_READER_S = 0.001
"""How long to wait before trying again to hand over bytes that a reader had no room for."""
_RECEIVED_BYTES = 1 << 16
_LONGEST_PATH_BYTES = 107


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
        self._service = Service(machine, faults)
        self._path = path
        self._listener = _listen(path)
        self._clients: dict[int, tuple[socket.socket, bytearray]] = {}
        self._lifelines: set[int] = set()
        self._attentive_until = 0.0
        self._ended = False
        self._wake_reader, self._wake_writer = os.pipe()
        os.set_blocking(self._wake_writer, False)
        self._poller = select.epoll()
        # Edge-triggered: a line that nobody has open is in a lasting state of hang-up.
        self._poller.register(line.fileno(), select.EPOLLIN | select.EPOLLET)
        for descriptor in (self._listener.fileno(), self._wake_reader):
            self._poller.register(descriptor, select.EPOLLIN)
        signal.set_wakeup_fd(self._wake_writer)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._end)

    def end_when_closed(self, descriptor: int) -> None:
        """End when the other side of a pipe is closed."""
        self._lifelines.add(descriptor)
        self._poller.register(descriptor, select.EPOLLIN | select.EPOLLHUP)

    def run(self) -> None:
        """Be the board until a signal ends it, or a lifeline is closed."""
        while not self._ended:
            self._wait()
            self._machine.run(_ATTENTIVE_SLICE if time.monotonic() < self._attentive_until else _LONG_SLICE)

    def close(self) -> None:
        """Hang up everywhere."""
        for client, _ in self._clients.values():
            client.close()
        self._listener.close()
        self._path.unlink(missing_ok=True)
        self._line.close()

    def _end(self, _number: int, _frame: object) -> None:
        self._ended = True

    def _wait(self) -> None:
        """Sleep while the board rests; then see to whatever has arrived."""
        idle_s = self._machine.idle_s()
        if self._line.pending:
            self._line.flush()
            idle_s = min(idle_s, _SLOW_READER_S)
        started = time.monotonic()
        events = self._poller.poll(idle_s)
        if idle_s:
            self._machine.elapse(time.monotonic() - started)
        for descriptor, _ in events:
            self._see_to(descriptor)

    def _see_to(self, descriptor: int) -> None:
        if descriptor in self._clients:
            self._serve(descriptor)
        elif descriptor == self._line.fileno():
            self._machine.receive()
        elif descriptor == self._listener.fileno():
            self._accept()
        elif descriptor in self._lifelines:
            self._ended = self._ended or not os.read(descriptor, _RECEIVED_BYTES)
        else:
            os.read(self._wake_reader, _RECEIVED_BYTES)

    def _accept(self) -> None:
        client, _ = self._listener.accept()
        self._clients[client.fileno()] = client, bytearray()
        self._poller.register(client.fileno(), select.EPOLLIN)

    def _serve(self, descriptor: int) -> None:
        """Answer what a client has asked; hang up when it has gone, or talks nonsense."""
        client, buffer = self._clients[descriptor]
        self._attentive_until = time.monotonic() + _ATTENTION_S
        try:
            received = client.recv(_RECEIVED_BYTES)
            buffer += received
            self._answer(client, buffer)
        except (OSError, ProtocolError):
            received = b""
        if not received:
            del self._clients[descriptor]
            client.close()

    def _answer(self, client: socket.socket, buffer: bytearray) -> None:
        while (decoded := link.decode_request(buffer)) is not None:
            request, size_bytes = decoded
            del buffer[:size_bytes]
            client.sendall(link.encode_response(self._service.answer(request)))


def _listen(path: Path) -> socket.socket:
    """Listen on a Unix socket that this user alone can open."""
    if len(os.fsencode(path)) > _LONGEST_PATH_BYTES:
        raise StorageError(
            "the path of the runtime folder is too long for a socket",
            where=path,
            expected=f"at most {_LONGEST_PATH_BYTES} bytes",
            hint="set XDG_RUNTIME_DIR to a shorter path",
        )
    path.unlink(missing_ok=True)  # the announcement is held: no living board can own it
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        listener.bind(str(path))
        path.chmod(0o600)
        listener.listen()
    except OSError as error:
        listener.close()
        raise StorageError(f"cannot listen: {error.strerror}", where=path) from error
    return listener
