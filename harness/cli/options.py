"""Options that several commands share, and the types of their values."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

import click

from harness.domain.board import Board
from harness.domain.tflm_options import SOURCE_KERNELS, TflmOptions
from harness.errors import UsageError

# The type of a click decorator: it takes and gives a function of any signature.
Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

ALL_OPERATORS, USED_OPERATORS = "all", "used"
"""Values of --ops."""

_ARENA_STEP_BYTES = 4


class BoardType(click.ParamType[Board]):
    """A board's id, or the path of a board file."""

    name = "BOARD"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> Board:
        """Load the board."""
        from harness.bench.boards import load_board

        return value if isinstance(value, Board) else load_board(str(value))


class BytesType(click.ParamType[int]):
    """A number of bytes, such as 81920 or 80k."""

    name = "BYTES"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Read the number, with its `k`."""
        if isinstance(value, int):
            return value
        text = str(value).lower().replace("_", "")
        digits, factor = (text[:-1], 1024) if text.endswith("k") else (text, 1)
        if not digits.isascii() or not digits.isdigit() or not 0 < int(digits[:12]) * factor < 2**32:
            raise UsageError(f"{value!r} is no number of bytes", where=_name(param), expected="such as 81920 or 80k")
        size_bytes = int(digits) * factor
        if size_bytes % _ARENA_STEP_BYTES:
            raise UsageError(
                "the size is no multiple of 4", where=_name(param), measured=size_bytes, hint=f"{size_bytes // 4 * 4}?"
            )
        return size_bytes


class _UnitType(click.ParamType[str]):
    """What names a probe or a port. An empty text is most likely an unset shell variable, and chooses nothing."""

    name = "TEXT"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if not str(value):
            raise UsageError("the name is empty", where=_name(param), hint="leave the option out to take the only one")
        return str(value)


def no_nan(_ctx: click.Context, param: click.Parameter, value: float | None) -> float | None:
    """Click's ranges let NaN through, and no figure is ever above that."""
    if value is not None and math.isnan(value):
        raise UsageError("this is no number", where=_name(param), measured=value)
    return value


def _name(param: click.Parameter | None) -> str:
    return param.opts[0] if param else ""


MODEL_PATH = click.Path(path_type=Path)

models_argument: Decorator = click.argument("models", metavar="MODEL...", nargs=-1, required=True, type=MODEL_PATH)
board_option: Decorator = click.option(
    "--board", type=BoardType(), required=True, help="Board id (see `harness boards`), or a board file."
)
probe_option: Decorator = click.option(
    "--probe", type=_UnitType(), help="Unique id of the debug probe, when there are several."
)
port_option: Decorator = click.option("--port", type=_UnitType(), help="Serial port, when there are several.")
tflm_option: Decorator = click.option(
    "--tflm",
    default="crate",
    show_default=True,
    help="TFLM to build: crate (the one of 2020-07), the folder of your own TFLM's sources, or a manifest (.toml).",
)
arena_option: Decorator = click.option(
    "--arena-size",
    type=BytesType(),
    help="Arena to give to the model (such as 81920 or 80k).  [default: the largest that fits]",
)
input_option: Decorator = click.option(
    "--input",
    "inputs",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Raw bytes of an input tensor, or a NumPy file (.npy); once per input, in the model's order."
    "  [default: a fixed pattern]",
)
random_input_option: Decorator = click.option(
    "--random-input", metavar="SEED", type=int, help="Fill the inputs with random data made from this number."
)
check_output_option: Decorator = click.option(
    "--check-output",
    is_flag=True,
    help="Compare the outputs with those of TFLM on this machine: integers bit by bit, floats within 1e-5.",
)
operators_option: Decorator = click.option(
    "--ops",
    type=click.Choice([ALL_OPERATORS, USED_OPERATORS]),
    default=ALL_OPERATORS,
    show_default=True,
    help="Operators that the firmware holds: all that TFLM has, or those that the models use, to fit small flash.",
)
invokes_option: Decorator = click.option(
    "--invokes",
    type=click.IntRange(1, 1000),
    default=1,
    show_default=True,
    help="How often to run each model on each paint.",
)
force_flash_option: Decorator = click.option(
    "--force-flash", is_flag=True, help="Write the flash even when it already holds the right bytes."
)
keep_flash_option: Decorator = click.option(
    "--keep-flash", is_flag=True, help="Refuse to write over what harness has not written itself."
)
threshold_option: Decorator = click.option(
    "--threshold",
    "threshold_percent",
    type=click.FloatRange(0, 1000),
    callback=no_nan,
    default=20.0,
    show_default=True,
    help="How far too high an estimate may be, in percent.",
)
margin_option: Decorator = click.option(
    "--margin",
    "margin_percent",
    type=click.FloatRange(0, 1000),
    callback=no_nan,
    default=0.0,
    show_default=True,
    help="What to add to the recommended arena, in percent; 10 to 20 is usual.",
)

store_option: Decorator = click.option(
    "--store",
    type=click.Path(path_type=Path, dir_okay=False),
    default=Path("results/harness.db"),
    show_default=True,
    help="The results database.",
)
corrections_options: tuple[Decorator, Decorator] = (
    click.option(
        "--corrections",
        "corrections_dir",
        type=click.Path(path_type=Path, file_okay=False, exists=True),
        help="Folder of what harness tune has learned.  [default: results/corrections here, or in the checkout]",
    ),
    click.option("--no-corrections", is_flag=True, help="Leave out what harness tune has learned."),
)


def operators_for(ops: str, models: Collection[Path]) -> frozenset[str] | None:
    """The operators that --ops means; None for all.

    Raises:
        UsageError: those of the models, and there is none.
    """
    from harness.measure.expectation import used_operators

    if ops != USED_OPERATORS:
        return None
    if not models:
        raise UsageError("whose operators? No model is given", where=f"--ops {ops}")
    return used_operators(models)


def corrections_folder(corrections_dir: Path | None, no_corrections: bool) -> Path | None:
    """The folder to take corrections from; None for none.

    Raises:
        UsageError: the two options contradict each other.
    """
    from harness.estimate import default_dir

    if no_corrections and corrections_dir:
        raise UsageError("--corrections and --no-corrections exclude each other")
    return None if no_corrections else corrections_dir or default_dir()


def together(*decorators: Decorator) -> Decorator:
    """Several options as one decorator, shown in the order given."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return decorate


unit_options: Decorator = together(board_option, probe_option, port_option)


_FOLDER = click.Path(path_type=Path, file_okay=False)
_TREE_FOLDERS: Decorator = together(
    click.option("--include", multiple=True, type=_FOLDER, help="Include folder that TFLM's sources need besides."),
    click.option("--cmsis-nn", type=_FOLDER, help="CMSIS-NN's sources.  [default: in TFLM's sources, or beside them]"),
    click.option("--esp-nn", type=_FOLDER, help="ESP-NN's sources.  [default: beside TFLM's sources]"),
)


def _bundled(function: Callable[..., Any]) -> Callable[..., Any]:
    """The command, with four options as one, `tflm_options`."""

    @functools.wraps(function)
    def bundled(
        *arguments: object,
        kernels: str | None,
        include: tuple[Path, ...],
        cmsis_nn: Path | None,
        esp_nn: Path | None,
        **others: object,
    ) -> object:
        folders = tuple(folder.absolute() for folder in include)
        nn_folders = (folder.absolute() if folder else None for folder in (cmsis_nn, esp_nn))
        return function(*arguments, tflm_options=TflmOptions(kernels, folders, *nn_folders), **others)

    return _TREE_FOLDERS(bundled)


def tree_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """What a user may say of the TFLM's sources that are to be built, as `tflm_options`."""
    kernels = click.option(
        "--kernels",
        type=click.Choice(SOURCE_KERNELS),
        help="Kernels to compile from TFLM's sources.  [default: reference, where the sources have them]",
    )
    return kernels(_bundled(function))


def profile_tree_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """What a user may say of the TFLM that an estimate is for, as `tflm_options`."""
    kernels = click.option(
        "--kernels",
        metavar="NAME",
        help="Kernel set: reference, cmsis-nn, esp-nn or esp-nn-s3.  [default: that of the TFLM, or reference]",
    )
    return kernels(_bundled(function))
