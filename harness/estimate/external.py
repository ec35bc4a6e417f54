"""Estimates of other tools, from a JSON list of models and bytes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

from harness.domain.estimate import Estimate
from harness.errors import ResultError
from harness.estimate.layout.arena import ALIGNMENT, align_up
from harness.files.fields import Fields, objects_in
from harness.files.text import read_json

_FILE_LIMIT_BYTES: Final = 16 * 1024 * 1024
_MOST_BYTES: Final = 2**40
_HINT: Final = 'give a list such as [{"model": "kws.tflite", "bytes": 22672}]'


@dataclass(frozen=True)
class ExternalFigure:
    """What another tool says of one model.

    Attributes:
        model: file name, with or without folder and extension.
        sha256: of the model file, when the tool gives it.
        arena_bytes: the arena.
        method: the tool's name, or that of the file.
    """

    model: str
    sha256: str | None
    arena_bytes: int
    method: str


def read_external(path: Path) -> list[ExternalFigure]:
    """Read a JSON list of objects with the keys `model`, and `arena_used_bytes` or `bytes`; `sha256`, `method` may be.

    Raises:
        ResultError: the file cannot be read, or is no such list.
    """
    items = read_json(path, _FILE_LIMIT_BYTES, ResultError, _HINT)
    return [_figure(item, path.stem) for item in objects_in(items, str(path), ResultError, _HINT)]


def _figure(item: Fields, name: str) -> ExternalFigure:
    key = "arena_used_bytes" if item.has("arena_used_bytes") else "bytes"
    return ExternalFigure(
        model=item.text("model"),
        sha256=item.text("sha256").lower() if item.has("sha256") else None,
        arena_bytes=item.integer(key, 0, _MOST_BYTES),
        method=item.text("method") if item.has("method") else name,
    )


def external_estimates(figures: Sequence[ExternalFigure], ours: Sequence[Estimate]) -> list[Estimate]:
    """The figures as estimates beside ours of the same models. Figures of models that are not among ours are left out.

    Raises:
        ResultError: a figure of that name is for a file with another hash; or there is none for any of our models.
    """
    found = [_beside(figure, estimate) for estimate in ours for figure in figures if _is_of(figure, estimate)]
    if figures and not found:
        raise ResultError(
            "the external figures are for none of these models",
            measured=", ".join(sorted({figure.model for figure in figures})[:5]),
            expected=", ".join(sorted({estimate.model for estimate in ours})[:5]),
        )
    return found


def _is_of(figure: ExternalFigure, estimate: Estimate) -> bool:
    same_name = _stem(figure.model) == _stem(estimate.model)
    if figure.sha256 is None:
        return same_name
    if same_name and figure.sha256 != estimate.sha256:
        raise ResultError(
            f"the figure of {figure.method} is for another file of that name",
            where=figure.model,
            measured=figure.sha256[:16],
            expected=estimate.sha256[:16],
        )
    return figure.sha256 == estimate.sha256


def _stem(model: str) -> str:
    return PurePosixPath(model.replace("\\", "/")).name.removesuffix(".tflite")


def _beside(figure: ExternalFigure, estimate: Estimate) -> Estimate:
    return Estimate(
        model=estimate.model,
        sha256=estimate.sha256,
        profile=estimate.profile,
        method=figure.method,
        arena_used_bytes=figure.arena_bytes,
        head_bytes=None,
        tail_bytes=None,
        min_working_arena_bytes=None,
        recommended_arena_bytes=align_up(figure.arena_bytes, ALIGNMENT),
        board=estimate.board,
        unknown_parts=(f"a figure of {figure.method}, which is not checked here",),
    )
