"""Lines that are no local ports."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.errors import SerialPortError
from harness.transports.serial import SerialTransport


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[socket.socket]:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening


def test_line_behind_a_socket(server: socket.socket) -> None:
    line = SerialTransport().open(f"socket://127.0.0.1:{server.getsockname()[1]}", 115200)
    far_end, _ = server.accept()
    with far_end:
        far_end.sendall(b"hello")
        assert line.read(5) == b"hello"
        line.write(b"there")
        assert far_end.recv(100) == b"there"
    with pytest.raises(SerialPortError, match="gone"):
        line.read(5)
    line.close()


def test_nobody_listens(server: socket.socket) -> None:
    port = server.getsockname()[1]
    server.close()
    with pytest.raises(SerialPortError, match="cannot be opened"):
        SerialTransport().open(f"socket://127.0.0.1:{port}", 115200)


def test_ports_are_listed_by_name() -> None:
    names = [port.path for port in SerialTransport().ports()]
    assert names == sorted(names)
