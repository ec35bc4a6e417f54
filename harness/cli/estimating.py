"""How a command estimates: profile, method, input shapes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from harness.cli.options import Decorator, together
from harness.cli.progress import StderrProgress
from harness.domain import generations
from harness.domain.board import Board
from harness.domain.estimate import Estimate, Profile
from harness.errors import UsageError

if TYPE_CHECKING:
    from harness.estimate import ModelFile

DEFAULT_TFLM: Final = generations.DEFAULT
DEFAULT_ABI: Final = "arm32"
DEFAULT_KERNELS: Final = "reference"
_SHORT_ENUMS: Final = "-fshort-enums"
METHODS: Final = ("layout", "formula", "host")

profile_options: Decorator = together(
    click.option(
        "--tflm", default=DEFAULT_TFLM, show_default=True, help="TFLM generation, or the manifest of your own TFLM."
    ),
    click.option("--abi", help=f"Binary interface, such as x86-64.  [default: the board's, or {DEFAULT_ABI}]"),
    click.option("--kernels", help=f"Kernel set, such as cmsis-nn.  [default: the manifest's, or {DEFAULT_KERNELS}]"),
)
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


def profile_for(tflm: str, abi: str | None, kernels: str | None, board: Board | None, method: str) -> Profile:
    """The profile that options ask for.

    Raises:
        UsageError: they contradict each other.
        SourceError: a manifest, or what it names, cannot be used.
    """
    tflm, kernels = _generation_and_kernels(tflm, kernels)
    if board and abi not in {None, board.abi}:
        raise UsageError("--abi is not the board's", measured=abi, expected=board.abi)
    profile = Profile(tflm, abi or (board.abi if board else DEFAULT_ABI), kernels)
    if method != "host":
        return profile
    from harness.estimate import HOST_PROFILE

    if abi is None:
        profile = Profile(tflm, HOST_PROFILE.abi, kernels)
    if profile != HOST_PROFILE:
        raise UsageError(
            "the host method has one TFLM only: the official wheel", measured=profile.id, expected=HOST_PROFILE.id
        )
    return HOST_PROFILE


def _generation_and_kernels(tflm: str, kernels: str | None) -> tuple[str, str]:
    """What a manifest says of its library; without one, what the options say."""
    from harness import plugins

    if not plugins.is_manifest(tflm):
        return plugins.GENERATIONS.get(tflm, tflm), kernels or DEFAULT_KERNELS
    progress = StderrProgress()
    try:
        source = plugins.tflm_provider(tflm).fetch(progress)
    finally:
        progress.clear()
    if _SHORT_ENUMS in (source.abi_flags or ()):
        click.echo(f"warning: {tflm}: with {_SHORT_ENUMS} structures are smaller than this estimate has them", err=True)
    if kernels not in {None, source.kernels}:
        raise UsageError("--kernels is not the manifest's", where=tflm, measured=kernels, expected=source.kernels)
    return source.generation, source.kernels
