"""`harness flash`."""

from __future__ import annotations

from pathlib import Path

import click

from harness.cli.options import (
    MODEL_PATH,
    force_flash_option,
    keep_flash_option,
    operators_for,
    operators_option,
    tflm_option,
    together,
    tree_options,
    unit_options,
)
from harness.cli.output import format_option, show
from harness.domain.board import Board
from harness.domain.tflm_options import TflmOptions


@click.command()
@click.argument("model", required=False, type=MODEL_PATH)
@unit_options
@together(tflm_option, tree_options, operators_option, force_flash_option, keep_flash_option, format_option)
def command(
    *,
    model: Path | None,
    board: Board,
    probe: str | None,
    port: str | None,
    tflm: str,
    tflm_options: TflmOptions,
    ops: str,
    force_flash: bool,
    keep_flash: bool,
    output_format: str,
) -> None:
    """Write the firmware, and MODEL if one is given, into a board's flash, unless they are already there."""
    from harness.cli.progress import StderrProgress
    from harness.estimate import read_model
    from harness.session import RunOptions, open_session

    contents = [read_model(model)] if model else []
    operators = operators_for(ops, [model] if model else [])
    options = RunOptions(
        tflm,
        probe,
        port,
        force_flash=force_flash,
        keep_flash=keep_flash,
        operators=operators,
        tflm_options=tflm_options,
    )
    progress = StderrProgress()
    try:
        with open_session(board, options, progress) as session:
            written = session.flash(contents)
            unit = session.connect().dut
    finally:
        progress.clear()
    row = {"board": board.id, "probe": unit.probe_id, "written": ", ".join(written) or "nothing: all was there"}
    show([row], output_format)
