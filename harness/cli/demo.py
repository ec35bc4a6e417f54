"""`harness demo`."""

from __future__ import annotations

import click

from harness.cli.options import BoardType
from harness.cli.output import format_option
from harness.domain.board import Board

_MODELS = ("hello_world", "magic_wand", "micro_speech", "person_detection_grayscale")


@click.command()
@click.option("--board", type=BoardType(), default="stm32f407-virtual", show_default=True, help="Board id.")
@format_option
def command(board: Board, output_format: str) -> int:
    """Run the four models that come with TFLM, on a virtual board unless told otherwise.

    The smallest arena that works is searched for as well: it is often larger than what the interpreter says it uses.
    That a model does not fit the board is an answer, too.
    """
    from harness.cli.running import run_and_show
    from harness.session import RunOptions
    from harness.tflm.crate import CrateProvider

    provider = CrateProvider()
    models = [provider.example(f"{name}.tflite") for name in _MODELS]
    return run_and_show(board, models, RunOptions(min_arena=True), output_format, answers=("does_not_link",))
