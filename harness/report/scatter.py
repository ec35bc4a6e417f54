"""Estimate against measurement, one chart per board, on logarithmic axes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from harness.report.facts import ReportedAttempt

SIZE: Final = 300
"""Side of the square that the points lie in, in units of the drawing."""

_POINT_LIMIT = 400
_WORST_LIMIT = 6


@dataclass(frozen=True)
class Tick:
    """A line of the grid.

    Attributes:
        at: its place on the axis, from 0 to SIZE.
        label: bytes in words.
    """

    at: float
    label: str


@dataclass(frozen=True)
class Point:
    """One place where models lie.

    Attributes:
        x, y: measured and estimated; y counts from the top, as SVG does.
        job: the first model there.
        others: how many more of the same verdict lie on the same spot.
    """

    x: float
    y: float
    job: ReportedAttempt
    others: int


@dataclass(frozen=True)
class Chart:
    """One board's chart.

    Attributes:
        board: its id.
        ticks: the same on both axes.
        points: to be drawn in this order.
        models: measured jobs in it.
        exact: how many of them were estimated to the byte.
        worst: jobs with the largest errors in percent, without exact ones.
        hidden: spots that are not drawn, because there are too many.
    """

    board: str
    ticks: tuple[Tick, ...]
    points: tuple[Point, ...]
    models: int
    exact: int
    worst: tuple[ReportedAttempt, ...]
    hidden: int


def charts(jobs: Iterable[ReportedAttempt]) -> list[Chart]:
    """One chart per board that anything was measured on, in the order of their names."""
    boards: dict[str, list[ReportedAttempt]] = {}
    for job in jobs:
        if job.used_bytes and job.estimate_bytes:
            boards.setdefault(job.board, []).append(job)
    return [_chart(board, boards[board]) for board in sorted(boards)]


def _chart(board: str, jobs: Sequence[ReportedAttempt]) -> Chart:
    values = [value for job in jobs for value in (job.used_bytes, job.estimate_bytes) if value]
    # Half a power of two of room on both sides, so that no point lies on the edge.
    low, high = math.log2(min(values)) - 0.5, math.log2(max(values)) + 0.5
    points = _points(jobs, low, high)
    return Chart(
        board=board,
        ticks=tuple(_ticks(low, high)),
        points=tuple(points[:_POINT_LIMIT]),
        models=len(jobs),
        exact=sum(job.error_bytes == 0 for job in jobs),
        worst=tuple(sorted((job for job in jobs if job.error_bytes), key=_deviation, reverse=True)[:_WORST_LIMIT]),
        hidden=max(0, len(points) - _POINT_LIMIT),
    )


def _points(jobs: Sequence[ReportedAttempt], low: float, high: float) -> list[Point]:
    spots: dict[tuple[float, float, str], list[ReportedAttempt]] = {}
    for job in jobs:
        x = _place(job.used_bytes or 1, low, high)
        y = SIZE - _place(job.estimate_bytes or 1, low, high)
        spots.setdefault((round(x, 1), round(y, 1), job.verdict), []).append(job)
    found = [Point(x, y, there[0], len(there) - 1) for (x, y, _), there in spots.items()]
    return sorted(found, key=lambda point: _deviation(point.job), reverse=True)


def _deviation(job: ReportedAttempt) -> float:
    return abs(job.error_percent or 0.0)


def _place(value: int, low: float, high: float) -> float:
    return SIZE * (math.log2(value) - low) / (high - low)


def _ticks(low: float, high: float) -> list[Tick]:
    """Powers of two, at most seven of them."""
    first, last = math.ceil(low), math.floor(high)
    stride = max(1, math.ceil((last - first + 1) / 7))
    powers = range(first, last + 1, stride)
    return [Tick(round(SIZE * (power - low) / (high - low), 1), _bytes(power)) for power in powers]


def _bytes(power: int) -> str:
    for step, unit in ((20, "M"), (10, "K")):
        if power >= step:
            return f"{2 ** (power - step)} {unit}"
    return str(2**power)
