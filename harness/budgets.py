"""Budgets: how many bytes of arena each model may take on each board.

A TOML file with a table per board. Boards and models may be patterns; the first that fits counts, in the file's order::

    [stm32f407-discovery]
    "kws_int8.tflite" = 40_000
    "*" = 98_304

    ["*"]
    "micro_speech*" = 16_384
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from harness.errors import UsageError
from harness.fields import Fields


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
    try:
        values = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise UsageError(f"the budgets cannot be read: {error.strerror}", where=path) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise UsageError(f"this is no TOML: {error}", where=path) from error
    top = Fields(str(path), values, UsageError, hint="a table per board, and in it bytes per model")
    tables = [(board, top.inner(board)) for board in values]
    return Budgets(tuple(Budget(board, model, table.count(model)) for board, table in tables for model in table.values))
