"""`harness boards`."""

from __future__ import annotations

import click

from harness.bench.boards import board_ids, load_board
from harness.cli.output import format_option, show
from harness.domain.board import Board


@click.command()
@format_option
def command(output_format: str) -> None:
    """List the boards that harness knows."""
    show([_row(load_board(board)) for board in board_ids()], output_format)


def _row(board: Board) -> dict[str, object]:
    return {
        "board": board.id,
        "title": board.title,
        "abi": board.abi,
        "toolchain": board.toolchain,
        "flasher": board.flasher,
        "ram_bytes": board.ram.size_bytes,
        "model_flash_bytes": board.model_flash.size_bytes,
        "emulated": board.emulated,
    }
