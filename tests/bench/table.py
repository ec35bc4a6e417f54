"""The form of the figures."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """One figure.

    Attributes:
        what: what was measured.
        value: in `unit`.
        unit: `s` or `MB`.
        target: what it should stay below.
        beside: the figure that it is to be compared with, in the same unit.
    """

    what: str
    value: float
    unit: str
    target: float | None = None
    beside: float | None = None


def show(rows: Iterable[Row]) -> None:
    """Print each row as soon as it is known."""
    print(f"{'what':<52}{'measured':>12}{'target':>12}{'beside':>12}{'ratio':>9}")
    for row in rows:
        target = f"<= {row.target:g} {row.unit}" if row.target is not None else ""
        beside = f"{row.beside:.2f} {row.unit}" if row.beside is not None else ""
        ratio = f"{row.beside / row.value:.1f}x" if row.beside is not None else ""
        print(f"{row.what:<52}{f'{row.value:.2f} {row.unit}':>12}{target:>12}{beside:>12}{ratio:>9}", flush=True)
