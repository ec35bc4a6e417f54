"""`harness min-arena`."""

from __future__ import annotations

from pathlib import Path

import click

from harness.cli.options import (
    force_flash_option,
    input_option,
    models_argument,
    tflm_option,
    together,
    tree_options,
    unit_options,
)
from harness.cli.output import format_option
from harness.domain.board import Board
from harness.domain.tflm_options import TflmOptions


@click.command()
@models_argument
@unit_options
@together(tflm_option, tree_options, input_option, force_flash_option, format_option)
def command(
    *,
    models: tuple[Path, ...],
    board: Board,
    probe: str | None,
    port: str | None,
    tflm: str,
    tflm_options: TflmOptions,
    inputs: tuple[Path, ...],
    force_flash: bool,
    output_format: str,
) -> int:
    """Find the smallest arena that each model runs with, on the device.

    The same as `harness run --min-arena`: the smallest arena is measured beside everything else.
    """
    from harness.cli.inputs import read_inputs
    from harness.cli.running import run_and_show
    from harness.domain.recipe import Recipe
    from harness.session import RunOptions

    recipe = Recipe(inputs=read_inputs(inputs))
    options = RunOptions(tflm, probe, port, recipe, min_arena=True, force_flash=force_flash, tflm_options=tflm_options)
    return run_and_show(board, models, options, output_format)
