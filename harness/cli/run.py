"""`harness run`."""

from __future__ import annotations

from pathlib import Path

import click

from harness.cli.estimating import input_shape_option
from harness.cli.options import (
    arena_option,
    check_output_option,
    corrections_folder,
    corrections_options,
    force_flash_option,
    input_option,
    invokes_option,
    keep_flash_option,
    margin_option,
    models_argument,
    operators_for,
    operators_option,
    random_input_option,
    tflm_option,
    threshold_option,
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
@together(tflm_option, tree_options, operators_option, arena_option)
@together(input_option, random_input_option, input_shape_option, invokes_option)
@click.option(
    "--shared-arena", is_flag=True, help="Also run all models in one arena, in turn, beside each in one of its own."
)
@click.option("--min-arena", is_flag=True, help="Also find the smallest arena that works, by bisection.")
@check_output_option
@together(force_flash_option, keep_flash_option, threshold_option, margin_option, *corrections_options, format_option)
def command(
    *,
    models: tuple[Path, ...],
    board: Board,
    probe: str | None,
    port: str | None,
    tflm: str,
    tflm_options: TflmOptions,
    ops: str,
    arena_size: int | None,
    inputs: tuple[Path, ...],
    input_shapes: tuple[str, ...],
    random_input: int | None,
    invokes: int,
    shared_arena: bool,
    min_arena: bool,
    check_output: bool,
    force_flash: bool,
    keep_flash: bool,
    threshold_percent: float,
    margin_percent: float,
    corrections_dir: Path | None,
    no_corrections: bool,
    output_format: str,
) -> int:
    """Estimate, build, flash, measure and reconcile.

    In the table, all in bytes: `arena` is what the model was given, `estimate` what it should use of that, `used` what
    the interpreter says it uses, `painted` what was really written, `minimum` the smallest arena that works, and
    `error` the estimate less `used`. Where TFLM records its allocations, a second table has what it takes for what,
    beside the estimate. The causes of differences follow below.
    """
    from harness.cli.inputs import read_inputs
    from harness.cli.running import run_and_show
    from harness.domain.recipe import Recipe
    from harness.estimate import parse_input_shape
    from harness.session import RunOptions

    options = RunOptions(
        tflm=tflm,
        tflm_options=tflm_options,
        probe=probe,
        port=port,
        recipe=Recipe(arena_size, read_inputs(inputs, random_input), invokes, random_input),
        min_arena=min_arena,
        check_output=check_output,
        force_flash=force_flash,
        keep_flash=keep_flash,
        threshold_percent=threshold_percent,
        margin_percent=margin_percent,
        corrections=corrections_folder(corrections_dir, no_corrections),
        input_shapes=dict(map(parse_input_shape, input_shapes)),
        operators=operators_for(ops, models),
        shared_arena=shared_arena,
    )
    return run_and_show(board, models, options, output_format)
