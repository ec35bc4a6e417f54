"""All attempts as one flat table, for spreadsheets and notebooks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import IO

import pandas as pd

from harness.domain.attempt import Attempt
from harness.errors import PluginError

# A spreadsheet would take a cell that begins so for a formula; names of models are untrusted.
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def to_frame(attempts: Sequence[Attempt]) -> pd.DataFrame:
    """One row per attempt, one column per part of its key and per figure; unknown numbers are missing values."""
    frame = pd.DataFrame([_flat(attempt) for attempt in attempts], columns=list(_flat(_NONE)))
    whole = [name for name in frame.columns if name.endswith("_bytes") or name in _WHOLE]
    frame[whole] = frame[whole].astype("Int64")
    return frame.astype({"error_percent": "Float64"})


def write_csv(frame: pd.DataFrame, target: IO[str]) -> None:
    """Write a table as CSV."""
    frame.map(_harmless).to_csv(target, index=False, lineterminator="\n")


def write_parquet(frame: pd.DataFrame, target: Path) -> None:
    """Write a table as Parquet.

    Raises:
        PluginError: pyarrow is not installed.
    """
    try:
        frame.to_parquet(target, engine="pyarrow", index=False)
    except ImportError as error:
        raise PluginError("Parquet needs pyarrow", hint="pip install 'harness[report]'") from error


_WHOLE = frozenset({"id", "sweep", "job", "number", "exit_code"})
_NONE = Attempt(0, None, None, 0, "", "", "", "", "", "", "", "", "")


def _flat(attempt: Attempt) -> dict[str, object]:
    values: dict[str, object] = asdict(attempt)
    del values["circumstances"]
    joined = {"corrections": " ".join(attempt.corrections), "causes": "; ".join(attempt.causes)}
    return values | asdict(attempt.circumstances) | joined


def _harmless(value: object) -> object:
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA_STARTS) else value
