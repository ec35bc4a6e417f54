"""The processes of virtual boards: how they start, keep their flash, and end."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import serial

pytest.importorskip("unicorn", reason="virtual boards need the extra `virtual`")

from harness.errors import ProbeError
from harness.virtual import launcher, link, registry
from harness.virtual.machines import MACHINES
from harness.virtual.stm32f407.probe.debug_link import DebugLink

DEADLINE_S = 20.0
ECHO_AT_115200 = bytes.fromhex(
    "0548 0649 8160"  # ldr r0, =USART2; ldr r1, =divider; str r1, [r0, #8]
    "0649 c160"  # ldr r1, =enable; str r1, [r0, #12]
    "0168 8906 fcd5 4168 4160 f9e7 00bf"  # loop: wait for RXNE, read DR, write DR
    "0044 0040 8b00 0000 0c20 0000"  # the three constants
)
START_A_BOARD_AND_WAIT = """
import sys, time
from harness.virtual import launcher
print(launcher.start("stm32f407", "orphan").process.pid, flush=True)
time.sleep(60)
"""


@pytest.fixture(autouse=True)
def runtime_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))


def wait_until_gone(pid: int) -> None:
    deadline = time.monotonic() + DEADLINE_S
    while Path(f"/proc/{pid}").exists() and "zombie" not in Path(f"/proc/{pid}/status").read_text():
        assert time.monotonic() < deadline, f"process {pid} still runs"
        time.sleep(0.01)


def load(board: launcher.VirtualBoard, program: bytes) -> None:
    """Put a program into RAM and run it."""
    with link.Client(board.socket) as client:
        debug = DebugLink(client)
        debug.write_memory(0xE000EDF0, (0xA05F0003).to_bytes(4, "little"))
        debug.write_memory(0x2000_0000, program)
        for register, value in ((15, 0x2000_0000), (13, 0x2001_0000), (16, 1 << 24)):
            debug.write_memory(0xE000EDF8, value.to_bytes(4, "little"))
            debug.write_memory(0xE000EDF4, (register | 1 << 16).to_bytes(4, "little"))
        debug.write_memory(0xE000EDF0, (0xA05F0000).to_bytes(4, "little"))


def test_modules_in_the_current_folder_do_not_stand_in(tmp_path, monkeypatch):
    (tmp_path / "argparse.py").write_text("raise SystemExit('the wrong argparse')")
    monkeypatch.chdir(tmp_path)
    with launcher.start("stm32f407", "elsewhere") as board:
        assert board.port


def test_a_program_talks_over_the_port():
    with launcher.start("stm32f407", "talker") as board:
        load(board, ECHO_AT_115200)
        with serial.Serial(board.port, 115_200, timeout=DEADLINE_S) as port:
            port.write(b"hello")
            assert port.read(5) == b"hello"


def test_a_private_board_is_in_no_list():
    with launcher.start("stm32f407", "mine") as board:
        assert list(registry.running()) == []
        assert registry.find_by_probe_id(board.probe_id) == board.entry


def test_nothing_is_left_of_a_board_that_was_stopped():
    with launcher.start("stm32f407", "short") as board:
        pass
    assert board.process.poll() == 0
    assert list(registry.folder().iterdir()) == []


def test_a_name_and_a_flash_file_are_used_once(tmp_path):
    flash = tmp_path / "flash"
    with launcher.start("stm32f407", "one", flash):
        with pytest.raises(ProbeError, match="running"):
            launcher.start("stm32f407", "one")
        with pytest.raises(ProbeError, match="flash file"):
            launcher.start("stm32f407", "two", flash)


def test_a_file_of_another_size_is_no_flash_file(tmp_path):
    flash = tmp_path / "flash"
    flash.write_bytes(b"short")
    with pytest.raises(ProbeError, match="flash file"):
        launcher.start("stm32f407", "one", flash)
    assert flash.read_bytes() == b"short"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_flash_is_kept_however_the_board_ends(tmp_path, number):
    flash = tmp_path / "flash"
    with launcher.start("stm32f407", "keeper", flash) as board, link.Client(board.socket) as client:
        debug = DebugLink(client)
        for address, value in ((0x4002_3C04, 0x45670123), (0x4002_3C04, 0xCDEF89AB), (0x4002_3C10, 0x201)):
            debug.write_memory(address, value.to_bytes(4, "little"))
        debug.write_memory(0x0800_0000, b"kept")
        os.kill(board.process.pid, number)
        board.process.wait(DEADLINE_S)
    with launcher.start("stm32f407", "keeper", flash) as board, link.Client(board.socket) as client:
        debug = DebugLink(client)
        assert debug.read_memory(0x0800_0000, 4) == b"kept"


def test_a_board_ends_with_its_parent():
    with subprocess.Popen([sys.executable, "-c", START_A_BOARD_AND_WAIT], stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        board = int(parent.stdout.readline())
        parent.kill()
    wait_until_gone(board)


def test_a_client_notices_that_the_board_was_killed():
    with launcher.start("stm32f407", "victim") as board, link.Client(board.socket) as client:
        debug = DebugLink(client)
        debug.touch()
        board.process.kill()
        with pytest.raises(link.DisconnectedError):
            debug.touch()


def harness(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "harness", "virtual", *arguments], capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("machine", MACHINES)
def test_a_daemon_runs_until_it_is_stopped(tmp_path, monkeypatch, machine):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    started = harness("start", "--name", "desk", "--machine", machine, "--format", "json")
    assert started.returncode == 0, started.stderr
    (board,) = json.loads(started.stdout)
    try:
        assert (board["machine"], board["probe"]) == (machine, "virtual-desk")
        assert json.loads(harness("list", "--format", "json").stdout) == [board]
        again = harness("start", "--name", "desk")
        assert again.returncode == 3
        assert "running" in again.stderr
    finally:
        stopped = harness("stop", "desk")
    assert stopped.returncode == 0, stopped.stderr
    assert json.loads(harness("list", "--format", "json").stdout) == []
    wait_until_gone(board["pid"])


def test_stopping_a_board_that_does_not_run():
    stopped = harness("stop", "nobody")
    assert stopped.returncode == 3
    assert "hint:" in stopped.stderr
