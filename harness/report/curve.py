"""A history as a line of steps, with its changes marked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from harness.report.facts import Change, History

WIDTH: Final = 640
HEIGHT: Final = 72
_EDGE = 8


@dataclass(frozen=True)
class Mark:
    """A change on the line.

    Attributes:
        x, y: where.
        change: which.
    """

    x: float
    y: float
    change: Change


@dataclass(frozen=True)
class Curve:
    """A drawn history.

    Attributes:
        path: the `d` of an SVG path.
        marks: on it.
        high, low: largest and smallest bytes; None when nothing was ever measured.
    """

    path: str
    marks: tuple[Mark, ...]
    high: int | None
    low: int | None


def curve(history: History) -> Curve:
    """Draw a history in a field of WIDTH × HEIGHT; the horizontal axis counts attempts."""
    values = [value for _, value in history.levels]
    if not values:
        return Curve("", (), None, None)
    low, high = min(values), max(values)
    start = min(history.levels[0][0], *(change.number for change in history.changes))
    across = (WIDTH - 2 * _EDGE) / max(1, history.length - 1 - start)

    def x(number: int) -> float:
        return round(_EDGE + across * (number - start), 1)

    def y(value: int) -> float:
        share = (value - low) / (high - low) if high > low else 0.5
        return round(HEIGHT - _EDGE - share * (HEIGHT - 2 * _EDGE), 1)

    first, *later = history.levels
    steps = "".join(f"H{x(number)}V{y(value)}" for number, value in later)
    path = f"M{x(first[0])} {y(first[1])}{steps}H{x(history.length - 1)}"
    marks = tuple(Mark(x(c.number), y(_level(history, c.number)), c) for c in history.changes)
    return Curve(path, marks, high, low)


def _level(history: History, number: int) -> int:
    """The line's value at an attempt; where it failed, the one before."""
    before = [value for at, value in history.levels if at <= number]
    return before[-1] if before else history.levels[0][1]
