"""The flash stage and pyOCD's own command line on virtual STM32F407 boards."""

from __future__ import annotations

import os
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.bench.boards import load_board
from harness.bench.flash import first_difference, flash_parts
from harness.domain.board import MemoryRegion
from harness.domain.firmware import FirmwareImage, FlashSegment, PackedModel
from harness.errors import ProbeError
from harness.flashers.pyocd import PyocdFlasher
from harness.packagers.flat import FlatPackager
from harness.virtual import launcher
from harness.virtual.launcher import VirtualBoard
from harness.virtual.link import Client
from harness.virtual.units import VirtualUnits

pytest.importorskip("unicorn", reason="the extra `virtual` is not installed")

BOARD = load_board("stm32f407-virtual")
BUILD_ID = "0123456789abcdef"
MODEL_REGION = MemoryRegion(0x08080000, 0x80000)


@pytest.fixture(scope="module")
def flasher() -> Iterator[PyocdFlasher]:
    started = PyocdFlasher()
    yield started
    started.close()


@pytest.fixture
def desk_board() -> Iterator[VirtualBoard]:
    with launcher.start("stm32f407", f"stock-{os.getpid()}", private=False) as board:
        yield board


def image() -> FirmwareImage:
    data = bytearray(os.urandom(20_000))
    data[0:8] = struct.pack("<II", 0x20001000, 0x08000401)
    data[0x200:0x224] = struct.pack("<8sII16sI", b"HARNFIRM", 1, len(data), BUILD_ID.encode(), 1)
    data[0x400:0x402] = b"\xfe\xe7"  # b .
    segment = FlashSegment(BOARD.firmware_flash.start, bytes(data))
    return FirmwareImage(BUILD_ID, BOARD.id, "2020-07", "", "", segment, MODEL_REGION, 0, Path("firmware.elf"), 0, 0, 0)


def ignore(what: str, done: int, total: int) -> None:
    pass


def pyocd(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """PyOCD's own command, as a user has it."""
    command = [str(Path(sys.executable).with_name("pyocd")), *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False, timeout=120)


def test_second_run_writes_nothing(flasher: PyocdFlasher, tmp_path: Path) -> None:
    units, model = VirtualUnits(tmp_path), PackedModel("noise", os.urandom(3000), 128)
    parts = FlatPackager().parts(image(), model)
    written = []
    for _ in range(2):
        with units.acquire(BOARD, None, None) as dut, flasher.connect(dut) as session:
            written.append(flash_parts(session, parts, ignore))
    assert written == [[part.name for part in parts], []]


def test_interrupted_firmware_is_written_again(flasher: PyocdFlasher, desk_board: VirtualBoard) -> None:
    firmware = image()
    parts = FlatPackager().parts(firmware, None)

    def unplug(what: str, done: int, total: int) -> None:
        if done > total / 2:
            with Client(desk_board.socket) as client:
                client.control({"do": "link", "status": "disconnected", "first": 1, "count": None})

    with VirtualUnits().acquire(BOARD, desk_board.name, None) as dut:
        with flasher.connect(dut) as session, pytest.raises(ProbeError):
            flash_parts(session, parts, unplug)
        with Client(desk_board.socket) as client:
            client.control({"do": "clear_faults"})
        with flasher.connect(dut) as session:
            assert first_difference(session, [firmware.segment]) is not None
            assert flash_parts(session, parts, ignore) == [parts[0].name]
            assert first_difference(session, [firmware.segment]) is None


def test_pyocd_lists_running_boards(desk_board: VirtualBoard, tmp_path: Path) -> None:
    listed = pyocd("list", folder=tmp_path)
    assert listed.returncode == 0
    assert desk_board.probe_id in listed.stdout
    assert "stm32f407xg" in listed.stdout


def test_private_boards_are_not_listed_but_can_be_named(tmp_path: Path) -> None:
    with launcher.start("stm32f407", f"hidden-{os.getpid()}") as board:
        assert board.probe_id not in pyocd("list", folder=tmp_path).stdout
        named = pyocd("cmd", "-u", board.probe_id, "-c", "status", folder=tmp_path)
        assert named.returncode == 0, named.stderr


def test_pyocd_flashes_without_being_told_the_target(
    flasher: PyocdFlasher, desk_board: VirtualBoard, tmp_path: Path
) -> None:
    firmware = image()
    (tmp_path / "x.bin").write_bytes(firmware.segment.data)
    flashed = pyocd("flash", "x.bin", "-u", desk_board.probe_id, folder=tmp_path)
    assert flashed.returncode == 0, flashed.stderr
    with (
        VirtualUnits().acquire(BOARD, desk_board.probe_id, None) as dut,
        flasher.connect(dut) as session,
    ):
        assert first_difference(session, [firmware.segment]) is None


def test_pyocd_reads_registers_and_memory(desk_board: VirtualBoard, tmp_path: Path) -> None:
    (tmp_path / "x.bin").write_bytes(image().segment.data)
    pyocd("flash", "x.bin", "-u", desk_board.probe_id, folder=tmp_path)
    commands = [word for command in ("reset halt", "reg", "read32 0x08000000 8") for word in ("-c", command)]
    told = pyocd("cmd", "-u", desk_board.probe_id, *commands, folder=tmp_path)
    assert told.returncode == 0, told.stderr
    assert "pc: 0x08000400" in " ".join(told.stdout.split())
    assert "sp: 0x20001000" in " ".join(told.stdout.split())
    assert "20001000 08000401" in told.stdout


def test_pyocd_knows_the_targets_without_a_board(tmp_path: Path) -> None:
    targets = pyocd("list", "--targets", folder=tmp_path).stdout
    assert "stm32f407xe" in targets
    assert "stm32f407xg" in targets


def test_pyocd_ends_when_the_board_dies(desk_board: VirtualBoard, tmp_path: Path) -> None:
    with Client(desk_board.socket) as client:
        client.control({"do": "link", "status": "disconnected", "first": 200, "count": None})
    (tmp_path / "x.bin").write_bytes(image().segment.data)
    assert pyocd("flash", "x.bin", "-u", desk_board.probe_id, folder=tmp_path).returncode != 0
