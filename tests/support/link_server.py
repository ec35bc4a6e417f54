"""The other end of a virtual board's link, which answers what a test wants."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def answering(path: Path, *answers: bytes) -> Iterator[list[bytes]]:
    """A server that takes one client, answers each request with the next of the answers, and hangs up."""
    requests: list[bytes] = []
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(str(path))
        listener.listen()

        def serve() -> None:
            client, _ = listener.accept()
            with client:
                for answer in answers:
                    requests.append(client.recv(1 << 16))
                    client.sendall(answer)

        thread = threading.Thread(target=serve)
        thread.start()
        yield requests
        thread.join()
