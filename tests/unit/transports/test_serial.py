"""Lines that are no local ports."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from serial.rfc2217 import PortManager, Serial

from harness.errors import SerialPortError
from harness.transports.serial import SerialTransport


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[socket.socket]:
    monkeypatch.setenv("HARNESS_LOCK_FOLDER", str(tmp_path))
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


class Console:
    """What a serial-to-network server needs of pySerial's port object: it only records settings here."""

    def __init__(self) -> None:
        self.baudrate = 9600
        self.bytesize = 8
        self.parity = "N"
        self.stopbits = 1
        self.rtscts = self.xonxoff = self.rts = self.dtr = False
        self.cts = self.dsr = self.ri = self.cd = True

    def reset_input_buffer(self) -> None:
        pass

    def reset_output_buffer(self) -> None:
        pass


def port_manager(console: Console, client: socket.socket) -> PortManager:
    port, connection = cast("Serial", console), cast("Serial", SimpleNamespace(write=client.sendall))
    return PortManager(port, connection)


def serve_rfc2217(listening: socket.socket, console: Console) -> None:
    """Echo what arrives, in capitals, until the client hangs up."""
    client, _ = listening.accept()
    with client:
        manager = port_manager(console, client)
        while received := client.recv(1024):
            data = b"".join(manager.filter(received))
            if data:
                client.sendall(b"".join(manager.escape(data.upper())))


@pytest.mark.filterwarnings("ignore:set(Daemon|Name):DeprecationWarning")  # pySerial 3.5's own
def test_line_by_rfc2217(server: socket.socket) -> None:
    console = Console()
    serving = threading.Thread(target=serve_rfc2217, args=(server, console))
    serving.start()
    line = SerialTransport().open(f"rfc2217://127.0.0.1:{server.getsockname()[1]}", 460800)
    assert console.baudrate == 460800
    line.set_control(dtr=False, rts=True)
    assert (console.dtr, console.rts) == (False, True)
    line.set_control(dtr=True, rts=False)
    assert (console.dtr, console.rts) == (True, False)
    line.write(b"hello")
    received = b""
    while len(received) < 5 and (piece := line.read(5)):
        received += piece
    assert received == b"HELLO"
    assert line.read(0) == b""
    line.close()
    serving.join()


def test_nobody_listens(server: socket.socket) -> None:
    port = server.getsockname()[1]
    server.close()
    with pytest.raises(SerialPortError, match="cannot be opened"):
        SerialTransport().open(f"socket://127.0.0.1:{port}", 115200)


def test_ports_are_listed_by_name() -> None:
    names = [port.path for port in SerialTransport().ports()]
    assert names == sorted(names)


@pytest.mark.filterwarnings("ignore:set(Daemon|Name):DeprecationWarning")  # pySerial 3.5's own
def test_far_end_of_an_rfc2217_line_goes_away(server: socket.socket) -> None:
    closing = threading.Event()

    def serve_until_told() -> None:
        client, _ = server.accept()
        with client:
            manager = port_manager(Console(), client)
            client.settimeout(0.05)
            while not closing.is_set():
                with suppress(TimeoutError):
                    list(manager.filter(client.recv(1024)))

    serving = threading.Thread(target=serve_until_told)
    serving.start()
    line = SerialTransport().open(f"rfc2217://127.0.0.1:{server.getsockname()[1]}", 115200)
    closing.set()
    serving.join()
    with pytest.raises(SerialPortError, match="gone"):
        line.read(10)
    line.close()


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("loop://", "leads back to harness itself"),
        ("loop://?x=y", "leads back to harness itself"),
        ("hwgrep://(", "cannot be opened"),
        ("hwgrep://nothing-of-this-name", "cannot be opened"),
        ("socket://", "cannot be opened"),
        ("socket://127.0.0.1:99999", "cannot be opened"),
        ("socket://127.0.0.1:1", "Connection refused"),
        ("rfc2217://", "cannot be opened"),
        ("spy:///dev/null", "cannot be opened"),
        ("alt:///dev/null?class=None", "cannot be opened"),
        ("unknown://x", "cannot be opened"),
        ("://", "cannot be opened"),
        ("", "a port without a name"),
    ],
)
@pytest.mark.parametrize("opened_by", ["transport", "esptool"])
def test_urls_that_lead_to_no_device_are_told(url: str, words: str, opened_by: str) -> None:
    from harness.flashers.esptool.port import open_port  # noqa: PLC0415 - a module of esptool's process

    with pytest.raises(SerialPortError, match=words) as caught, ExitStack() as claims:
        SerialTransport().open(url, 115200) if opened_by == "transport" else open_port(url, claims)
    assert caught.value.hint
