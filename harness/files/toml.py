"""TOML files that users write: boards, plans, benches, budgets."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Iterable
from pathlib import Path

from harness.errors import HarnessError, UsageError
from harness.files.fields import Fields
from harness.files.safe import read_bounded
from harness.files.text import decoded

_LIMIT_BYTES = 1024 * 1024


def read_toml(path: Path, hint: str = "", error: type[HarnessError] = UsageError) -> Fields:
    """The top of a TOML file.

    Args:
        path: the file.
        hint: the advice that goes with whatever is wrong in it.
        error: the class of error to raise, now and by the fields.

    Raises:
        HarnessError: of the class `error`; it cannot be read, or is no TOML.
    """
    data = read_bounded(path, _LIMIT_BYTES, error)
    try:
        return Fields(str(path), tomllib.loads(decoded(data)), error, hint)
    except (ValueError, RecursionError) as cause:  # ValueError: also no text, or numbers too long
        raise error(f"this is no TOML: {cause}", where=path, hint=hint) from cause


def refuse_unknown_keys(table: Fields, known: Iterable[str]) -> None:
    """A misspelt key would be ignored in silence otherwise.

    Raises:
        HarnessError: of the table's class; names the first unknown key, and the nearest known one.
    """
    for key in sorted(set(table.values) - set(known)):
        near = difflib.get_close_matches(key, known, n=1)
        raise table.error(
            "unknown key",
            where=f"{table.place}: {key}",
            expected=", ".join(sorted(known)),
            hint=f"did you mean {near[0]}?" if near else table.hint,
        )
