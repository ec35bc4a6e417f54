"""The wire to a virtual board's process: length-prefixed messages on a Unix stream socket.

Every board takes control commands; one with a debug port also takes what a debug probe asks for.

Request::

    offset  size  field
    0       4     payload bytes that follow the header
    4       1     operation
    5       1     access width in bytes: 1, 2 or 4
    6       2     zero
    8       4     address, or the operation's argument
    12      4     number of bytes to read

Response::

    offset  size  field
    0       4     payload bytes that follow the header
    4       1     status
    5       3     zero
    8       4     the address that the status is about, or the operation's result

Everything is little endian. Nothing here knows the emulator: a client needs this module and a socket path only.
"""

from __future__ import annotations

import json
import socket
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import Any

from harness.errors import ProbeError, ProtocolError

MAX_PAYLOAD_BYTES = 4 << 20
_REQUEST = struct.Struct("<IBBxxII")
_RESPONSE = struct.Struct("<IB3xI")
RESPONSE_HEADER_BYTES = _RESPONSE.size


class Operation(IntEnum):
    """What a request asks for."""

    READ = 1
    WRITE = 2
    SET_RESET = 3
    """Drive the nRST pin: address 1 pulls it low (asserted), 0 lets it go."""
    GET_RESET = 4
    """The response's address is 1 while nRST is low."""
    TOUCH = 5
    """A transfer that moves no memory (a debug port register): only counted, and failed where a fault is injected."""
    CONTROL = 6
    """The payload is a JSON object, and so is the response's: see the `control` module of each machine."""


class Status(IntEnum):
    """How a request ended."""

    OK = 0
    WAIT = 1
    """The target answered WAIT until the probe gave up."""
    FAULT = 2
    """The target's bus answered with an error; the address says where."""
    NO_ACK = 3
    """The target did not answer."""
    DISCONNECTED = 4
    """The probe is unplugged."""
    BAD_REQUEST = 5
    """The payload says what is wrong with the request."""


class WaitError(ProbeError):
    """The target answered WAIT until the probe gave up."""


class BusFaultError(ProbeError):
    """The target's bus answered with an error.

    Attributes:
        address: the address that could not be read or written.
    """

    def __init__(self, address: int) -> None:
        super().__init__("the target's bus answered with a fault", where=f"address {address:#010x}")
        self.address = address


class NoAckError(ProbeError):
    """The target did not answer: no power, or a broken line."""


class DisconnectedError(ProbeError):
    """The probe is unplugged, or the virtual board's process has ended."""


@dataclass(frozen=True)
class Request:
    """A request without its framing."""

    operation: Operation
    address: int = 0
    size_bytes: int = 0
    width_bytes: int = 4
    payload: bytes = b""


@dataclass(frozen=True)
class Response:
    """A response without its framing."""

    status: Status = Status.OK
    address: int = 0
    payload: bytes = b""


def encode_request(request: Request) -> bytes:
    """The bytes of a request."""
    header = _REQUEST.pack(
        len(request.payload), request.operation, request.width_bytes, request.address, request.size_bytes
    )
    return header + request.payload


def encode_response(response: Response) -> bytes:
    """The bytes of a response."""
    return _RESPONSE.pack(len(response.payload), response.status, response.address) + response.payload


def decode_request(buffer: bytes | bytearray) -> tuple[Request, int] | None:
    """The first request in `buffer` and the bytes it takes; None while it is incomplete.

    Raises:
        ProtocolError: these bytes are no request.
    """
    if len(buffer) < _REQUEST.size:
        return None
    length, operation, width, address, size = _REQUEST.unpack_from(buffer)
    if length > MAX_PAYLOAD_BYTES or size > MAX_PAYLOAD_BYTES or width not in (1, 2, 4):
        raise ProtocolError("a request is out of bounds", measured=f"{length} + {size} bytes, width {width}")
    if operation not in Operation._value2member_map_:
        raise ProtocolError("a request asks for an unknown operation", measured=operation)
    end = _REQUEST.size + length
    if len(buffer) < end:
        return None
    payload = bytes(buffer[_REQUEST.size : end])
    return Request(Operation(operation), address, size, width, payload), end


def decode_response_header(header: bytes) -> tuple[int, Status, int]:
    """Payload size in bytes, status and address of a response.

    Raises:
        ProtocolError: these bytes are no response.
    """
    length, status, address = _RESPONSE.unpack(header)
    if length > MAX_PAYLOAD_BYTES or status not in Status._value2member_map_:
        raise ProtocolError("a response is out of bounds", measured=f"{length} bytes, status {status}")
    return length, Status(status), address


class Client:
    """A blocking connection to a virtual board.

    Args:
        path: the board's socket.
        timeout_s: how long any one answer may take.

    Raises:
        DisconnectedError: nobody listens there.
    """

    def __init__(self, path: Path, timeout_s: float = 5.0) -> None:
        self._path = path
        self._lost = ""
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.settimeout(timeout_s)
        try:
            self._socket.connect(str(path))
        except OSError as error:
            self._socket.close()
            raise DisconnectedError(f"the virtual board does not answer: {error}", where=path) from error

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    def close(self) -> None:
        """End the connection; the board goes on."""
        self._socket.close()

    def control(self, command: Mapping[str, object]) -> dict[str, Any]:
        """Have the board do something that no probe can: inject a fault, cut the power, tell its state.

        Raises:
            ProbeError: the board refused the command.
        """
        answer = self.ask(Request(Operation.CONTROL, payload=json.dumps(command).encode()))
        decoded: dict[str, Any] = json.loads(answer.payload)
        return decoded

    def ask(self, request: Request) -> Response:
        """Send a request and wait for its response.

        Raises:
            WaitError, BusFaultError, NoAckError: the target did not do it.
            DisconnectedError: the link failed.
            ProbeError: the board refused the request.
        """
        if self._lost:
            raise DisconnectedError(self._lost, where=self._path)
        try:
            self._socket.sendall(encode_request(request))
            length, status, address = decode_response_header(self._receive(RESPONSE_HEADER_BYTES))
            payload = self._receive(length)
        except OSError as error:
            self.close()  # a late answer would be taken for the next one's
            self._lost = f"the virtual board does not answer: {error}"
            raise DisconnectedError(self._lost, where=self._path) from error
        if status is not Status.OK:
            raise _error(status, address, payload)
        return Response(status, address, payload)

    def _receive(self, size_bytes: int) -> bytes:
        received = b""
        while len(received) < size_bytes:
            piece = self._socket.recv(size_bytes - len(received))
            if not piece:
                raise ConnectionResetError("its process has ended")
            received += piece
        return received


def _error(status: Status, address: int, payload: bytes) -> ProbeError:
    """The error that stands for a response's status."""
    if status is Status.FAULT:
        return BusFaultError(address)
    if status is Status.WAIT:
        return WaitError("the target answers WAIT for ever")
    if status is Status.NO_ACK:
        return NoAckError("the target does not answer", hint="is the board powered?")
    if status is Status.DISCONNECTED:
        return DisconnectedError("the probe is unplugged")
    return ProbeError(payload.decode(errors="replace"))
