"""`harness estimate`."""

from __future__ import annotations

from pathlib import Path

import click

from harness.cli.options import BoardType, arena_option, margin_option, models_argument, together
from harness.cli.output import format_option, show
from harness.domain.board import Board
from harness.domain.estimate import Estimate
from harness.errors import HarnessError

DEFAULT_TFLM = "2026-08"
DEFAULT_ABI = "arm32"


@click.command()
@models_argument
@click.option("--tflm", default=DEFAULT_TFLM, show_default=True, help="TFLM generation.")
@click.option("--board", type=BoardType(), help="Board id or file: its ABI, and the arena size that it allows.")
@click.option("--method", type=click.Choice(["layout", "formula"]), default="layout", show_default=True)
@together(arena_option, margin_option, format_option)
def command(
    *,
    models: tuple[Path, ...],
    tflm: str,
    board: Board | None,
    method: str,
    arena_size: int | None,
    margin_percent: float,
    output_format: str,
) -> int:
    """Say what arena each model needs, without a device."""
    from harness.domain.estimate import Profile
    from harness.estimate import estimate, read_model
    from harness.results import estimate_to_json

    profile = Profile(tflm, board.abi if board else DEFAULT_ABI)
    estimates: list[Estimate] = []
    status = 0
    for path in models:
        try:
            estimates.append(
                estimate(
                    read_model(path),
                    profile,
                    method=method,
                    arena_size_bytes=arena_size,
                    margin_percent=margin_percent,
                    board=board.id if board else None,
                )
            )
        except HarnessError as error:
            click.echo(f"error: {error}", err=True)
            status = error.exit_code
    show([estimate_to_json(one) for one in estimates], output_format, [_row(one) for one in estimates])
    for one in estimates:
        for warning in one.warnings:
            click.echo(f"{one.model}: {warning}", err=True)
    return status


def _row(estimate: Estimate) -> dict[str, object]:
    return {
        "model": estimate.model,
        "tflm": estimate.profile.tflm,
        "abi": estimate.profile.abi,
        "method": estimate.method,
        "used_bytes": estimate.arena_used_bytes,
        "head_bytes": estimate.head_bytes,
        "tail_bytes": estimate.tail_bytes,
        "minimum_bytes": estimate.min_working_arena_bytes,
        "recommended_bytes": estimate.recommended_arena_bytes,
    }
