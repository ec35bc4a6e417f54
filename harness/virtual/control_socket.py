"""Socket at which a virtual board answers the link's requests, and that its user alone can open."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path

from harness.errors import ProtocolError, StorageError
from harness.virtual import link
from harness.virtual.link import Request, Response

_RECEIVED_BYTES = 1 << 16
_LONGEST_PATH_BYTES = 107
"""Of a Unix socket's path on Linux (unix(7))."""


class ControlSocket:
    """Listens, and talks with any number of clients.

    Args:
        path: where to listen; the board's announcement is held, so that nobody else owns it.
        answer: carries out a request.

    Raises:
        StorageError: one cannot listen there.
    """

    def __init__(self, path: Path, answer: Callable[[Request], Response]) -> None:
        self._path = path
        self._answer = answer
        self._clients: dict[socket.socket, bytearray] = {}
        self._listener = _listen(path)

    @property
    def sockets(self) -> list[socket.socket]:
        """Those to wait for."""
        return [self._listener, *self._clients]

    def attend(self, ready: socket.socket) -> None:
        """See to one of `sockets` that has become readable."""
        if ready is self._listener:
            self._clients[ready.accept()[0]] = bytearray()
            return
        try:
            received = ready.recv(_RECEIVED_BYTES)
            self._clients[ready] += received
            self._reply(ready, self._clients[ready])
        except (OSError, ProtocolError):
            received = b""
        if not received:
            del self._clients[ready]
            ready.close()

    def close(self) -> None:
        """Hang up everywhere."""
        for each in self.sockets:
            each.close()
        self._path.unlink(missing_ok=True)

    def _reply(self, client: socket.socket, buffer: bytearray) -> None:
        while (decoded := link.decode_request(buffer)) is not None:
            request, size_bytes = decoded
            del buffer[:size_bytes]
            client.sendall(link.encode_response(self._answer(request)))


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
