"""Somebody else on the bench: another program's reset or halt at any moment, and another account at the same unit.

Never is that the model's fault, and never does it change a number.
"""

from __future__ import annotations

import json
import os
import random
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.virtual import launcher
from harness.virtual.launcher import VirtualBoard
from harness.virtual.link import Client
from harness.virtual.stm32f407.probe.debug_link import DebugLink
from tests.support.boards import BOARD

pytestmark = pytest.mark.slow
MOMENTS = 20
AIRCR, SYSRESETREQ = 0xE000ED0C, 0x05FA0004
DHCSR, HALT = 0xE000EDF0, 0xA05F0003


@pytest.fixture
def shared_board(needs_firmware) -> Iterator[VirtualBoard]:
    """A board that several programs can reach."""
    with launcher.start("stm32f407", f"shared-{os.getpid()}", private=False) as board:
        yield board


def begin(model: Path, board: VirtualBoard, *options: str, **environment: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "harness", "run", str(model), "--board", BOARD, "--probe", board.name]
    return subprocess.Popen(
        [*command, "--format", "json", *options],
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def end(child: subprocess.Popen[str]) -> tuple[int, dict[str, Any] | None, str]:
    out, err = child.communicate(timeout=250)
    rows = json.loads(out) if out.strip() else []
    return child.returncode, rows[0] if rows else None, err


def figures(row: dict[str, Any]) -> list[object]:
    keys = ("arena_used_bytes", "head_bytes", "tail_bytes", "painted_used_bytes", "min_working_arena_bytes")
    return [row["measurement"][key] for key in keys]


def pulled_pin(link: DebugLink) -> None:
    link.set_reset(True)
    link.set_reset(False)


def reset_by_debugger(link: DebugLink) -> None:
    link.write_memory(AIRCR, struct.pack("<I", SYSRESETREQ))


def halted_by_debugger(link: DebugLink) -> None:
    link.write_memory(DHCSR, struct.pack("<I", HALT))


@pytest.mark.timeout(1200)
@pytest.mark.parametrize("interfere", [pulled_pin, reset_by_debugger, halted_by_debugger])
def test_a_foreign_hand_at_any_moment_is_bench_trouble_or_no_trouble(
    interfere: Callable[[DebugLink], None], shared_board: VirtualBoard, example
) -> None:
    model, chance = example("micro_speech.tflite"), random.Random(8)  # noqa: S311 - moments are no secret
    began = time.monotonic()
    status, undisturbed, err = end(begin(model, shared_board, "--min-arena"))
    length_s = time.monotonic() - began
    assert status == 0, err
    assert undisturbed is not None
    for _ in range(MOMENTS):
        child = begin(model, shared_board, "--min-arena")
        time.sleep(chance.uniform(0.2, 1.0) * length_s)
        with Client(shared_board.socket) as client:
            interfere(DebugLink(client))
        status, row, err = end(child)
        if status == 0:
            assert row is not None
            assert figures(row) == figures(undisturbed)
        else:
            assert status == 3, (row, err)
            assert row is None or row["verdict"] == "error", row


@pytest.mark.timeout(1200)
def test_two_accounts_at_one_unit_never_disturb_each_other(shared_board: VirtualBoard, example, tmp_path: Path) -> None:
    """Each with a state folder of its own; which of them comes first is left to chance."""
    model, chance = example("hello_world.tflite"), random.Random(9)  # noqa: S311 - as above
    status, alone, err = end(begin(model, shared_board))
    assert status == 0, err
    assert alone is not None
    served = 0
    for _ in range(MOMENTS):
        first = begin(model, shared_board, XDG_STATE_HOME=str(tmp_path / "one"))
        time.sleep(chance.uniform(0.0, 1.5))
        second = begin(model, shared_board, XDG_STATE_HOME=str(tmp_path / "two"))
        for status, row, err in (end(first), end(second)):
            if status == 0:
                assert row is not None
                assert figures(row) == figures(alone)
                served += 1
            else:
                assert status == 3, (row, err)
                assert "in use" in err or (row is not None and "in use" in json.dumps(row)), (row, err)
    assert served >= MOMENTS
