"""Options and helpers of the commands that estimate: method, input shapes, the estimator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from harness.cli.options import Decorator
from harness.domain.estimate import Estimate, Profile
from harness.errors import UsageError

if TYPE_CHECKING:
    from harness.estimate import ModelFile

METHODS: Final = ("layout", "formula", "host")

method_option: Decorator = click.option(
    "--method",
    type=click.Choice(METHODS),
    default=METHODS[0],
    show_default=True,
    help="layout works it out from the file, formula is a rule of thumb, host asks the official TFLM wheel.",
)
input_shape_option: Decorator = click.option(
    "--input-shape",
    "input_shapes",
    metavar="NAME=1,96,96,1",
    multiple=True,
    help="Shape of an input, by its tensor's name or its number; once per input.",
)
external_option: Decorator = click.option(
    "--external",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Another tool's estimates, beside ours: a JSON list of objects with model and bytes.",
)
shared_arena_option: Decorator = click.option(
    "--shared-arena", is_flag=True, help="Also say what one arena for all models takes, when they never run at once."
)


@dataclass(frozen=True)
class Estimator:
    """What all models of one command are estimated with.

    Attributes:
        profile: TFLM generation, ABI and kernels.
        method: one of METHODS.
        shapes: input shapes by name or number.
        arena_size_bytes: the arena that they will run in, or None.
        margin_percent: for the recommendation.
        board: board id, or None.
        corrections: folder of corrections, or None for none.
    """

    profile: Profile
    method: str = METHODS[0]
    shapes: tuple[str, ...] = ()
    arena_size_bytes: int | None = None
    margin_percent: float = 0.0
    board: str | None = None
    corrections: Path | None = None

    def read(self, path: Path) -> ModelFile:
        """The model, at the input shapes asked for."""
        from harness.estimate import parse_input_shape, read_model, resize_model

        return resize_model(read_model(path), dict(parse_input_shape(text) for text in self.shapes))

    def estimate(self, model: ModelFile) -> Estimate:
        """Its estimate."""
        from harness.estimate import corrected, estimate, load_correction

        found = estimate(
            model,
            self.profile,
            method="layout" if self.method == "host" else self.method,
            arena_size_bytes=self.arena_size_bytes,
            margin_percent=self.margin_percent,
            board=self.board,
        )
        if self.method == "host":
            return self._on_host(model)
        return corrected(found, load_correction(self.corrections, self.profile))

    def shared(self, models: Sequence[ModelFile]) -> Estimate:
        """The estimate of one arena for all models."""
        from harness.estimate import load_correction, shared_estimate, uncorrected

        if self.method != "layout":
            raise UsageError("only the layout method knows shared arenas", measured=f"--method {self.method}")
        found = shared_estimate(
            models,
            self.profile,
            arena_size_bytes=self.arena_size_bytes,
            margin_percent=self.margin_percent,
            board=self.board,
        )
        return uncorrected(found, load_correction(self.corrections, self.profile))

    def _on_host(self, model: ModelFile) -> Estimate:
        """Only for a model that the layout has understood: the wheel trusts what it reads."""
        from harness.estimate import host_estimate

        return host_estimate(
            model, arena_size_bytes=self.arena_size_bytes, margin_percent=self.margin_percent, board=self.board
        )


def beside(estimates: Sequence[Estimate], files: Sequence[Path]) -> list[Estimate]:
    """What other tools say of the same models."""
    from harness.estimate import external_estimates, read_external

    return [found for path in files for found in external_estimates(read_external(path), estimates)]
