"""`harness build`."""

from __future__ import annotations

import click

from harness.cli.options import board_option, tflm_option
from harness.cli.output import format_option, show
from harness.domain.board import Board


@click.command()
@board_option
@tflm_option
@format_option
def command(board: Board, tflm: str, output_format: str) -> None:
    """Build the firmware for a board, or find it built."""
    from harness import plugins
    from harness.build import build
    from harness.cli.progress import StderrProgress

    progress = StderrProgress()
    try:
        image = build(board, plugins.tflm_provider(tflm), plugins.toolchain(board.toolchain), progress)
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
        "elf": str(image.elf),
    }
    show([row], output_format)
