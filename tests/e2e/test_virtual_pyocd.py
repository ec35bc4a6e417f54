"""The stock pyOCD command line against a running virtual board."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

pytest.importorskip("unicorn", reason="virtual boards need the extra `virtual`")

from harness.virtual import launcher

IMAGE = bytes(range(251)) * 160


@pytest.fixture(scope="module")
def runtime_folder(tmp_path_factory):
    return tmp_path_factory.mktemp("runtime")


@pytest.fixture(scope="module")
def board(runtime_folder):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_RUNTIME_DIR", str(runtime_folder))
        with launcher.start("stm32f407", "pyocd", private=False) as started:
            yield started


@pytest.fixture
def pyocd(board, runtime_folder, tmp_path):
    def run(*arguments: str) -> str:
        finished = subprocess.run(
            [sys.executable, "-m", "pyocd", *arguments],
            cwd=tmp_path,
            env={**os.environ, "XDG_RUNTIME_DIR": str(runtime_folder)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert finished.returncode == 0, finished.stderr
        return finished.stdout + finished.stderr

    return run


def test_pyocd_lists_it(pyocd, board):
    assert board.probe_id in pyocd("list")


def test_pyocd_flashes_it(pyocd, board, tmp_path):
    (tmp_path / "image.bin").write_bytes(IMAGE)
    pyocd("flash", "-u", board.probe_id, "--base-address", "0x08000000", "image.bin")
    pyocd("cmd", "-u", board.probe_id, "-c", f"savemem 0x08000000 {len(IMAGE)} back.bin")
    assert (tmp_path / "back.bin").read_bytes() == IMAGE


def test_pyocd_reads_its_registers(pyocd, board):
    answer = pyocd("cmd", "-u", board.probe_id, "-c", "halt", "-c", "reg pc", "-c", "read32 0xE0042000")
    assert "10076413" in answer
    assert "pc" in answer


def test_pyocd_finds_the_cores_components(pyocd, board):
    answer = pyocd("cmd", "-v", "-u", board.probe_id, "-c", "status")
    for component in ("SCS", "DWT", "FPB", "ITM", "TPIU"):
        assert component in answer
