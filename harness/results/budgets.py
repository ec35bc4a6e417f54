"""Budgets: how many bytes of arena each model may take on each board.

A TOML file with a table per board. Boards and models may be patterns; the first that fits counts, in the file's order::

    [stm32f407-discovery]
    "kws_int8.tflite" = 40_000
    "*" = 98_304

    ["*"]
    "micro_speech*" = 16_384
"""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from harness.files.toml import read_toml


@dataclass(frozen=True)
class Budget:
    """The bytes that models of a pattern may take on boards of a pattern."""

    board: str
    model: str
    limit_bytes: int


@dataclass(frozen=True)
class Budgets:
    """All budgets, in the order in which they are tried."""

    entries: tuple[Budget, ...] = ()

    def limit_bytes(self, model: str, board: str) -> int | None:
        """What a model may take on a board; None when nothing is said of it."""
        fitting = (each for each in self.entries if fnmatchcase(board, each.board) and fnmatchcase(model, each.model))
        return next((each.limit_bytes for each in fitting), None)


def read_budgets(path: Path) -> Budgets:
    """Read a file of budgets.

    Raises:
        UsageError: it cannot be read, or a budget is no number of bytes.
    """
    top = read_toml(path, hint="a table per board, and in it bytes per model")
    tables = [(board, top.inner(board)) for board in top.values]
    return Budgets(tuple(Budget(board, model, table.count(model)) for board, table in tables for model in table.values))
