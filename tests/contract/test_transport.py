"""What every transport must do, on real pseudo-terminals."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
import tty
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from harness import plugins
from harness.errors import SerialPortError
from harness.ports import Transport

BAUD_RATE = 460800


@dataclass
class FarEnd:
    """A pseudo-terminal: `port` is what the transport opens, `master` the device's side of it."""

    master: int
    slave: int
    port: str = field(init=False)

    def __post_init__(self) -> None:
        self.port = os.ttyname(self.slave)

    def send(self, data: bytes) -> None:
        os.write(self.master, data)

    def vanish(self) -> None:
        for descriptor in (self.master, self.slave):
            os.close(descriptor)
        self.master = self.slave = -1


@pytest.fixture(params=["serial"])
def transport(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Transport:
    monkeypatch.setenv("HARNESS_LOCK_FOLDER", str(tmp_path))
    return plugins.transport(request.param)


@pytest.fixture
def far_end() -> Iterator[FarEnd]:
    master, slave = os.openpty()
    tty.setraw(slave)
    end = FarEnd(master, slave)
    yield end
    if end.master >= 0:
        end.vanish()


@pytest.fixture
def opened(transport: Transport, far_end: FarEnd):
    line = transport.open(far_end.port, BAUD_RATE)
    yield line
    line.close()


def read_all(line, size: int) -> bytes:
    data = b""
    deadline = time.monotonic() + 5
    while len(data) < size and time.monotonic() < deadline:
        data += line.read(0.2)
    return data


def test_bytes_go_both_ways(opened, far_end: FarEnd) -> None:
    far_end.send(bytes(range(256)))
    assert read_all(opened, 256) == bytes(range(256))
    opened.write(b"\x00\n\r\xff")
    assert os.read(far_end.master, 100) == b"\x00\n\r\xff"


def test_line_names_its_port(opened, far_end: FarEnd) -> None:
    assert opened.port == far_end.port


def test_nothing_arrives(opened) -> None:
    assert opened.read(0.01) == b""
    assert opened.read(0) == b""


def test_read_returns_at_the_first_bytes_of_a_drip(opened, far_end: FarEnd) -> None:
    stop = threading.Event()

    def drip() -> None:
        while not stop.wait(0.05):
            far_end.send(b".")

    feeder = threading.Thread(target=drip)
    feeder.start()
    try:
        assert set(opened.read(30)) == {ord(".")}
    finally:
        stop.set()
        feeder.join()


def test_what_came_before_the_opening_is_thrown_away(transport: Transport, far_end: FarEnd) -> None:
    far_end.send(b"stale")
    line = transport.open(far_end.port, BAUD_RATE)
    far_end.send(b"new")
    assert read_all(line, 3) == b"new"
    line.close()


@pytest.mark.parametrize("use", [lambda line: line.read(1), lambda line: line.write(b"x")], ids=["read", "write"])
def test_port_vanishes(opened, far_end: FarEnd, use: Callable[[object], object]) -> None:
    far_end.vanish()
    with pytest.raises(SerialPortError, match="gone") as gone:
        use(opened)
    assert gone.value.where == opened.port


def test_port_vanishes_during_a_read(opened, far_end: FarEnd) -> None:
    timer = threading.Timer(0.1, far_end.vanish)
    timer.start()
    with pytest.raises(SerialPortError, match="gone"):
        opened.read(30)
    timer.join()


def test_far_end_that_takes_no_bytes(opened) -> None:
    with pytest.raises(SerialPortError, match="does not take the bytes"):
        opened.write(bytes(1 << 20))


def test_close_twice_and_after_the_port_vanished(opened, far_end: FarEnd) -> None:
    far_end.vanish()
    opened.close()
    opened.close()


def test_closed_port_can_be_opened_again(transport: Transport, far_end: FarEnd) -> None:
    for _ in range(2):
        transport.open(far_end.port, BAUD_RATE).close()


def test_second_open_names_the_holder(transport: Transport, opened) -> None:
    with pytest.raises(SerialPortError, match="in use") as refusal:
        transport.open(opened.port, BAUD_RATE)
    assert f"(process {os.getpid()})" in str(refusal.value)


def test_second_open_by_another_name_of_the_port(transport: Transport, opened, tmp_path: Path) -> None:
    alias = tmp_path / "by-id"
    alias.symlink_to(opened.port)
    with pytest.raises(SerialPortError, match="in use"):
        transport.open(str(alias), BAUD_RATE)


def test_process_that_took_no_lock_is_named(transport: Transport, far_end: FarEnd) -> None:
    script = "import sys; port = open(sys.argv[1], 'rb', buffering=0); print('open', flush=True); sys.stdin.read()"
    command = [sys.executable, "-c", script, far_end.port]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as rival:
        assert rival.stdout is not None
        assert rival.stdout.readline() == "open\n"
        with pytest.raises(SerialPortError, match="in use") as refusal:
            transport.open(far_end.port, BAUD_RATE)
        assert f"(process {rival.pid})" in str(refusal.value)
        rival.communicate()
    transport.open(far_end.port, BAUD_RATE).close()


def test_port_that_does_not_exist(transport: Transport) -> None:
    with pytest.raises(SerialPortError, match="no such port"):
        transport.open("/dev/ttyNONE", BAUD_RATE)


def test_file_that_is_no_port(transport: Transport, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(SerialPortError, match="cannot be opened"):
        transport.open(str(tmp_path / "file"), BAUD_RATE)


def test_address_of_an_unknown_kind(transport: Transport) -> None:
    with pytest.raises(SerialPortError, match="cannot be opened"):
        transport.open("carrier-pigeon://loft", BAUD_RATE)


def test_no_permission(far_end: FarEnd) -> None:
    """In a child that is not root, for root may open everything."""
    Path(far_end.port).chmod(0)
    script = """
import os, serial, serial.tools.list_ports, sys, tempfile
from harness.errors import SerialPortError
from harness.transports.serial import SerialTransport
if os.getuid() == 0:
    os.setresuid(65534, 65534, 65534)
with tempfile.TemporaryDirectory() as os.environ["HARNESS_LOCK_FOLDER"]:
    try:
        SerialTransport().open(sys.argv[1], 115200)
    except SerialPortError as error:
        print(error)
"""
    done = subprocess.run([sys.executable, "-c", script, far_end.port], capture_output=True, text=True, check=False)
    assert "no permission" in done.stdout, done.stderr
    assert "dialout" in done.stdout
    assert "`harness doctor --udev`" in done.stdout


def test_a_line_without_modem_lines_says_so(transport: Transport, far_end: FarEnd) -> None:
    line = transport.open(far_end.port, BAUD_RATE)
    with pytest.raises(SerialPortError, match="no DTR and RTS"):
        line.set_control(dtr=False, rts=True)
    line.close()
