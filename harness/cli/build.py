"""`harness build`."""

from __future__ import annotations

from pathlib import Path

import click

from harness.cli.options import (
    MODEL_PATH,
    board_option,
    operators_for,
    operators_option,
    tflm_option,
    together,
    tree_options,
)
from harness.cli.output import format_option, show
from harness.domain.board import Board
from harness.domain.tflm_options import TflmOptions


@click.command()
@click.argument("models", metavar="[MODEL...]", nargs=-1, type=MODEL_PATH)
@together(board_option, tflm_option, tree_options, operators_option, format_option)
def command(
    *, models: tuple[Path, ...], board: Board, tflm: str, tflm_options: TflmOptions, ops: str, output_format: str
) -> None:
    """Build the firmware for a board, or find it built. MODELs are only for `--ops used`."""
    from harness import plugins
    from harness.build.firmware import build
    from harness.cli.progress import StderrProgress
    from harness.estimate import read_model

    for model in models:
        read_model(model)  # what is no model has no operators either
    progress = StderrProgress()
    toolchain = plugins.toolchain(board.toolchain)
    try:
        provider = plugins.tflm_provider(tflm, tflm_options)
        image = build(board, provider, toolchain, progress, operators=operators_for(ops, models))
    finally:
        progress.clear()
    row = {
        "board": board.id,
        "build_id": image.build_id,
        "tflm": image.tflm,
        "tflm_version": image.tflm_version,
        "toolchain": image.toolchain,
        "flash_bytes": len(image.segment.data),
        "ram_bytes": image.ram_bytes,
        "arena_max_bytes": image.arena_max_bytes,
        "operators": len(image.operators),
        "elf": str(image.elf),
    }
    show([row], output_format)
