"""A chip by pyOCD's API, in this process: what the worker does, without the pipe between."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from harness.errors import WrongDeviceError
from harness.flashers.pyocd import identity
from harness.flashers.pyocd.chip import Chip, connected_probes
from harness.virtual import launcher
from harness.virtual.launcher import VirtualBoard

pytest.importorskip("unicorn", reason="the extra `virtual` is not installed")


@pytest.fixture
def board(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[VirtualBoard]:
    monkeypatch.chdir(tmp_path)  # pyOCD changes the working directory; this changes it back
    with launcher.start("stm32f407", f"chip-{os.getpid()}", private=False) as started:
        yield started


def test_other_device_id_is_refused_and_the_probe_given_back(
    board: VirtualBoard, monkeypatch: pytest.MonkeyPatch
) -> None:
    f429 = replace(identity.STM32F407, device_id=0x419)
    with monkeypatch.context() as patched:
        patched.setattr(identity, "IDENTITIES", {"stm32f407xg": f429})
        with pytest.raises(WrongDeviceError) as refused:
            Chip(board.probe_id, "stm32f407xg", "halt")
    assert (refused.value.measured, refused.value.expected) == ("device id 0x413", "0x419")
    Chip(board.probe_id, "stm32f407xg", "halt").close()


def test_user_files_of_pyocd_are_not_read(board: VirtualBoard, tmp_path: Path) -> None:
    (tmp_path / "pyocd.yaml").write_text("connect_mode: nonsense\n")
    (tmp_path / "pyocd_user.py").write_text("raise SystemExit('run')\n")
    Chip(board.probe_id, "stm32f407xg", "halt").close()


@pytest.mark.parametrize("connect_mode", ["halt", "pre-reset", "under-reset"])
def test_ways_to_connect(board: VirtualBoard, connect_mode: str) -> None:
    chip = Chip(board.probe_id, "stm32f407xg", connect_mode)
    assert chip.read(0x08000000, 4) == b"\xff\xff\xff\xff"
    chip.close()


def test_probe_is_listed_with_its_description(board: VirtualBoard) -> None:
    described = {probe.unique_id: probe.description for probe in connected_probes()}
    assert described[board.probe_id] == f"harness virtual STM32F407 {board.name}"
