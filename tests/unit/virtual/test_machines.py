"""The one list of machines, against what is there for each of them."""

from __future__ import annotations

import inspect
from importlib import import_module

import pytest

from harness.bench.boards import board_ids, load_board
from harness.virtual.machines import MACHINES
from harness.virtual.server import PowerUp


@pytest.mark.parametrize("name", MACHINES)
def test_each_machine_can_be_powered_up(name: str) -> None:
    power_up = pytest.importorskip(MACHINES[name].board_module, exc_type=ImportError).power_up
    _, *expected = inspect.signature(PowerUp.__call__).parameters
    assert [*inspect.signature(power_up).parameters] == expected


def test_each_machine_plays_a_board_and_each_virtual_board_is_played() -> None:
    assert {load_board(board).machine for board in board_ids()} - {None} == set(MACHINES)


def test_pyocd_knows_each_debug_target() -> None:
    pytest.importorskip("pyocd.probe.aggregator")
    targets = import_module("pyocd.target").TARGET
    assert {each.debug_target for each in MACHINES.values()} - {None} <= set(targets)
