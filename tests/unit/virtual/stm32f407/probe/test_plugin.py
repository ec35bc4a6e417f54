"""The probe plug-in, against a link server that answers as each test wants."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from pyocd.core import exceptions
from pyocd.probe.aggregator import DebugProbeAggregator

from harness.errors import StorageError
from harness.virtual import registry
from harness.virtual.link import Request, Response, Status, decode_request, encode_response
from harness.virtual.stm32f407.probe.plugin import VirtualProbe

DRW = 0x0C


@dataclass
class Board:
    """A link server for one client: `answer` says what it answers; None: it ends."""

    path: Path
    answer: Callable[[Request], Response | None] = lambda request: Response(payload=bytes(request.size_bytes))
    requests: list[Request] = field(default_factory=list)

    def serve(self, listening: socket.socket) -> None:
        with suppress(OSError):  # no test has to connect
            client, _ = listening.accept()
            with client:
                self._talk(client)

    def _talk(self, client: socket.socket) -> None:
        buffer = b""
        while received := client.recv(65536):
            buffer += received
            while decoded := decode_request(buffer):
                request, size = decoded
                buffer = buffer[size:]
                self.requests.append(request)
                response = self.answer(request)
                if response is None:
                    return
                client.sendall(encode_response(response))


def announce(entry: registry.Entry) -> registry.Announcement:
    announcement = registry.Announcement(entry.name)
    announcement.publish(entry)
    return announcement


@pytest.fixture
def board(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Board]:
    monkeypatch.setattr(registry, "folder", lambda: tmp_path)
    served = Board(tmp_path / "link")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(served.path))
        listening.listen()
        server = threading.Thread(target=served.serve, args=(listening,))
        server.start()
        entry = registry.Entry("desk", "stm32f407", os.getpid(), str(served.path), "/dev/pts/0")
        announcement = announce(entry)
        yield served
        announcement.withdraw()
        listening.shutdown(socket.SHUT_RDWR)
        server.join()


@pytest.fixture
def probe(board: Board) -> Iterator[VirtualProbe]:
    found = VirtualProbe.get_probe_with_id("virtual-desk")
    assert found is not None
    found.open()
    yield found
    found.close()


def test_pyocd_finds_it_by_list_and_id(board: Board, probe: VirtualProbe) -> None:
    listed = DebugProbeAggregator.get_all_connected_probes()
    assert [each.unique_id for each in listed if isinstance(each, VirtualProbe)] == ["virtual-desk"]
    assert isinstance(DebugProbeAggregator.get_probe_with_id("virtual:virtual-desk"), VirtualProbe)
    assert probe.associated_board_info.target == "stm32f407xg"


def test_block_is_one_round_trip(board: Board, probe: VirtualProbe) -> None:
    board.answer = lambda request: Response(payload=bytes(range(request.size_bytes)))
    assert probe.read_ap_multiple(DRW, 2) == [0x03020100, 0x07060504]
    probe.write_ap_multiple(DRW, [1, 2, 3])
    assert [(each.size_bytes, len(each.payload)) for each in board.requests] == [(8, 0), (0, 12)]


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (Status.WAIT, exceptions.TransferTimeoutError),
        (Status.FAULT, exceptions.TransferFaultError),
        (Status.NO_ACK, exceptions.TransferError),
        (Status.DISCONNECTED, exceptions.ProbeDisconnected),
        (Status.BAD_REQUEST, exceptions.ProbeError),
    ],
)
def test_link_faults_become_pyocds(
    board: Board, probe: VirtualProbe, status: Status, expected: type[Exception]
) -> None:
    board.answer = lambda request: Response(status, request.address)
    with pytest.raises(expected) as now:
        probe.read_ap(DRW)
    assert type(now.value) is expected
    later = probe.read_ap(DRW, now=False)  # pyOCD learns of it when it asks for the value
    with pytest.raises(expected):
        later()
    with pytest.raises(expected):
        probe.write_ap_multiple(DRW, [1])


def test_faults_name_the_address(board: Board, probe: VirtualProbe) -> None:
    probe.write_ap(0x04, 0x20001000)
    board.answer = lambda request: Response(Status.FAULT, request.address)
    with pytest.raises(exceptions.TransferFaultError) as fault:
        probe.read_ap(DRW)
    assert fault.value.fault_address == 0x20001000


@pytest.mark.parametrize("status", [Status.WAIT, Status.FAULT])
def test_abort_and_identification_are_answered_in_any_case(board: Board, probe: VirtualProbe, status: Status) -> None:
    board.answer = lambda request: Response(status)
    probe.write_dp(0, 0x1E)
    assert probe.read_dp(0) == 0x2BA01477


def test_dead_board_is_a_disconnected_probe(board: Board, probe: VirtualProbe) -> None:
    board.answer = lambda request: None
    for _ in range(2):  # the reason stays the first one
        with pytest.raises(exceptions.ProbeDisconnected, match="its process has ended"):
            probe.read_ap(DRW)


def test_board_that_ended_cannot_be_opened(tmp_path: Path) -> None:
    probe = VirtualProbe(registry.Entry("gone", "stm32f407", 1, str(tmp_path / "link"), ""))
    with pytest.raises(exceptions.ProbeDisconnected):
        probe.open()
    with pytest.raises(exceptions.ProbeError, match="not open"):
        probe.read_dp(0)


def test_boards_without_a_debug_port_are_left_out(board: Board, tmp_path: Path) -> None:
    announcement = announce(registry.Entry("wifi", "esp32", os.getpid(), "", ""))
    assert [each.unique_id for each in VirtualProbe.get_all_connected_probes()] == ["virtual-desk"]
    assert VirtualProbe.get_probe_with_id("virtual-wifi") is None
    announcement.withdraw()


def test_broken_registry_hides_virtual_boards_only(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> Path:
        raise StorageError("no folder")

    monkeypatch.setattr(registry, "folder", refuse)
    assert VirtualProbe.get_all_connected_probes() == []
    assert VirtualProbe.get_probe_with_id("virtual-desk") is None


def test_plug_in_imports_no_emulator() -> None:
    script = "import sys, pyocd, harness.virtual.stm32f407.probe.plugin; sys.exit('unicorn' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0
