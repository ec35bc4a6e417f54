"""Stock esptool against the virtual ESP32: what works on silicon works here, and fails in the same words."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from harness.virtual import launcher, link
from harness.virtual.launcher import VirtualBoard
from tests.support import esp32_probe

pytestmark = pytest.mark.slow
DEADLINE_S = 120
FLASH_SIZE = ("--flash-size", "4MB")


@pytest.fixture
def board(tmp_path, monkeypatch) -> Iterator[VirtualBoard]:
    esp32_probe.require_emulator()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    with launcher.start("esp32", f"test-{os.getpid()}", tmp_path / "unit.flash") as started:
        yield started


@pytest.fixture
def esptool(board) -> Callable[..., subprocess.CompletedProcess[str]]:
    def run(*arguments: object) -> subprocess.CompletedProcess[str]:
        connect = ("--chip", "esp32", "--port", board.port, "--connect-attempts", "1")
        command = [*esp32_probe.ESPTOOL, *connect, *map(str, arguments)]
        return subprocess.run(
            command, capture_output=True, text=True, timeout=DEADLINE_S, check=False, stdin=subprocess.DEVNULL
        )

    return run


def control(board: VirtualBoard, do: str, **arguments: object) -> dict[str, object]:
    with link.Client(board.socket) as client:
        return client.control({"do": do, **arguments})


@pytest.fixture
def image(tmp_path) -> Path:
    return esp32_probe.build(tmp_path)


def test_write_verify_and_a_byte_that_changes(board, esptool, image, tmp_path):
    written = esptool("write-flash", *FLASH_SIZE, "0x1000", image)
    assert written.returncode == 0, written.stdout + written.stderr
    assert control(board, "state")["mode"] == "running"  # esptool's reset has started it
    assert esptool("verify-flash", *FLASH_SIZE, "0x1000", image).returncode == 0
    control(board, "flash_flip", address=0x1234, mask=0x10)
    corrupted = esptool("verify-flash", *FLASH_SIZE, "0x1000", image)
    assert corrupted.returncode != 0
    copy = tmp_path / "copy.bin"
    assert esptool("read-flash", "0x1000", "0x800", copy).returncode == 0
    wanted = image.read_bytes()[:0x800]
    assert [at for at, pair in enumerate(zip(wanted, copy.read_bytes(), strict=True)) if pair[0] != pair[1]] == [0x234]


def test_it_says_which_chip_and_flash_it_is(board, esptool):
    said = esptool("flash-id").stdout
    assert "ESP32-D0WD-V3 (revision v3.0)" in said
    assert f"MAC:                {control(board, 'state')['mac']}" in said
    assert "Detected flash size: 4MB" in said
    assert "Crystal frequency:  40MHz" in said


def test_a_write_through_the_rom_alone(board, esptool, image):
    written = esptool("--no-stub", "write-flash", *FLASH_SIZE, "0x1000", image)
    assert written.returncode == 0, written.stdout + written.stderr
    assert control(board, "state")["trouble"] == ""


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ({"do": "wrong_chip", "magic": 0x7C6}, "This chip is ESP32-S2, not ESP32"),
        ({"do": "no_sync"}, "getting no sync reply"),
        ({"do": "strap_ignored"}, "Wrong boot mode detected (0x13)"),
        ({"do": "nack", "count": 100}, "The format of the received message is invalid"),
    ],
)
def test_connecting_fails_in_esptools_own_words(board, esptool, fault, message):
    control(board, **fault)
    refused = esptool("--no-stub", "flash-id")
    assert refused.returncode != 0
    assert message in refused.stdout + refused.stderr


def test_a_reply_that_is_lost(board, esptool):
    control(board, "drop_replies", count=1)
    lost = esptool("--no-stub", "flash-id")
    assert lost.returncode != 0
    assert "Serial data stream stopped" in lost.stdout + lost.stderr


def test_unplugged_in_the_middle_of_a_write(board, esptool, tmp_path):
    data = tmp_path / "noise.bin"
    data.write_bytes(os.urandom(200_000))
    control(board, "unplug_after", blocks=3)
    broken = esptool("write-flash", *FLASH_SIZE, "0x10000", data)
    # Where it notices while it sends, esptool waits for the adapter, which is back at once, and begins anew.
    assert broken.returncode != 0 or "Lost connection, retrying" in broken.stdout
    assert control(board, "state")["mode"] != "waiting for a download"
