"""Choosing and starting virtual boards, with their real processes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from harness.bench.boards import load_board
from harness.errors import BoardFileError, ProbeError, StorageError, WrongDeviceError
from harness.virtual import launcher, registry
from harness.virtual.launcher import VirtualBoard
from harness.virtual.units import VirtualUnits

pytest.importorskip("unicorn", reason="the extra `virtual` is not installed")

BOARD = load_board("stm32f407-virtual")


@pytest.fixture
def running() -> Iterator[VirtualBoard]:
    with launcher.start("stm32f407", f"desk-{os.getpid()}", private=False) as board:
        yield board


def test_private_board_ends_with_the_context_and_keeps_its_flash(tmp_path: Path) -> None:
    units = VirtualUnits(tmp_path)
    with units.acquire(BOARD, None, None) as first:
        assert registry.find_by_probe_id(first.probe_id) is not None
        assert first.probe_id not in [entry.probe_id for entry in registry.running()]
        assert Path(first.port).exists()
    assert registry.find_by_probe_id(first.probe_id) is None
    assert [path.name for path in tmp_path.glob("*.flash")] == ["stm32f407-virtual-0.flash"]


def test_two_runs_use_two_slots(tmp_path: Path) -> None:
    units = VirtualUnits(tmp_path)
    with units.acquire(BOARD, None, None) as first, units.acquire(BOARD, None, None) as second:
        assert first.probe_id != second.probe_id
        assert first.port != second.port
    with units.acquire(BOARD, None, None) as third:
        assert third.probe_id == first.probe_id


def test_private_board_ends_when_the_run_is_interrupted(tmp_path: Path) -> None:
    seen = []

    def interrupted_run() -> None:
        with VirtualUnits(tmp_path).acquire(BOARD, None, None) as dut:
            seen.append(dut.probe_id)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted_run()
    assert registry.find_by_probe_id(seen[0]) is None


def test_running_board_is_chosen_by_name_or_probe_id(running: VirtualBoard) -> None:
    for choice in (running.name, running.probe_id):
        with VirtualUnits().acquire(BOARD, choice, None) as dut:
            assert (dut.probe_id, dut.port) == (running.probe_id, running.port)
    with VirtualUnits().acquire(BOARD, running.name, "rfc2217://lab:2217") as dut:
        assert dut.port == "rfc2217://lab:2217"
    assert registry.find(running.name) == running.entry  # it belongs to whoever started it


def test_board_that_does_not_run() -> None:
    with pytest.raises(ProbeError, match="no virtual board 'nobody'"), VirtualUnits().acquire(BOARD, "nobody", None):
        pass


def test_board_of_another_kind(running: VirtualBoard) -> None:
    other = replace(BOARD, machine="esp32")
    with pytest.raises(WrongDeviceError) as refusal, VirtualUnits().acquire(other, running.name, None):
        pass
    assert (refusal.value.measured, refusal.value.expected) == ("stm32f407", "esp32")


@pytest.mark.parametrize("machine", [None, "z80"])
def test_board_file_without_a_machine_that_is_known(machine: str | None) -> None:
    with pytest.raises(BoardFileError) as refusal, VirtualUnits().acquire(replace(BOARD, machine=machine), None, None):
        pass
    assert (refusal.value.measured, refusal.value.expected) == (machine, "one of stm32f407, esp32")


def test_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError), VirtualUnits(tmp_path / "file").acquire(BOARD, None, None):
        pass
