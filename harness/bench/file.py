"""The bench file: the user's own list of the units on their desk or in their lab.

::

    [[dut]]
    name = "left"                       # unique; by default board and number
    board = "stm32f407-discovery"       # an id, or the path of a board file
    probe = "066BFF303435554157113106"  # the debug probe's unique id
    port = "/dev/serial/by-id/usb-FTDI_TTL232R_FT1QX8Z9-if00-port0"
    power_hook = ["uhubctl", "-l", "1-1", "-p", "2", "-a", "cycle"]  # power off and on again
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.bench.boards import load_board
from harness.domain.board import Board
from harness.errors import UsageError
from harness.files.fields import Fields
from harness.files.toml import read_toml, refuse_unknown_keys

_KEYS = ("name", "board", "probe", "port", "power_hook")


@dataclass(frozen=True)
class BenchDut:
    """One unit that a sweep may use.

    Attributes:
        name: unique on its bench.
        board: what kind it is.
        probe, port: how to reach it; None where there is only one, and for a virtual board of the sweep's own.
        power_hook: the command that takes its power away and gives it back; empty when there is none.
    """

    name: str
    board: Board
    probe: str | None = None
    port: str | None = None
    power_hook: tuple[str, ...] = ()

    @property
    def resource(self) -> str | None:
        """What no other sweep may use at the same time; None for a board that is nobody else's."""
        if self.probe is None and self.port is None and self.board.machine is not None:
            return None
        return f"dut {self.probe or self.port or self.board.id}"


def read_bench(path: Path) -> list[BenchDut]:
    """The units in a bench file.

    Raises:
        UsageError: it cannot be read, or a key is missing, unknown or wrong, or two units share name or probe.
        BoardFileError: there is no such board.
    """
    top = read_toml(path, hint="a bench file holds [[dut]] tables")
    refuse_unknown_keys(top, ["dut"])
    duts = [_dut(table, number) for number, table in enumerate(top.inners("dut"), 1)]
    _refuse_doubles(path, "name", [dut.name for dut in duts])
    _refuse_doubles(path, "probe", [dut.probe for dut in duts if dut.probe])
    _refuse_doubles(path, "port", [dut.port for dut in duts if dut.port])
    return duts


def boards_named_in(path: Path) -> list[str]:
    """What a bench file calls the boards of its units, each once. They need not exist.

    Raises:
        UsageError: it cannot be read, or a unit has no board.
    """
    top = read_toml(path, hint="a bench file holds [[dut]] tables")
    return list(dict.fromkeys(table.text("board") for table in top.inners("dut"))) if top.has("dut") else []


def virtual_duts(board: Board, count: int) -> list[BenchDut]:
    """Virtual units of the sweep's own.

    Raises:
        UsageError: the board is no virtual one.
    """
    if board.machine is None:
        raise UsageError("this board is hardware", where=board.id, hint="list its units in a file for --bench")
    return [BenchDut(f"{board.id}-{number}", board) for number in range(1, count + 1)]


def _dut(table: Fields, number: int) -> BenchDut:
    refuse_unknown_keys(table, _KEYS)
    board = load_board(table.text("board"))
    return BenchDut(
        name=table.text("name") if table.has("name") else f"{board.id}-{number}",
        board=board,
        probe=table.text("probe") if table.has("probe") else None,
        port=table.text("port") if table.has("port") else None,
        power_hook=table.texts("power_hook") if table.has("power_hook") else (),
    )


def _refuse_doubles(path: Path, key: str, values: Sequence[str]) -> None:
    double = next((value for value in values if values.count(value) > 1), None)
    if double is not None:
        raise UsageError(f"two units have the same {key}", where=path, measured=double)
