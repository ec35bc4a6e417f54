"""`harness estimate`."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from harness.cli.estimating import (
    Estimator,
    beside,
    external_option,
    input_shape_option,
    method_option,
    shared_arena_option,
)
from harness.cli.options import (
    BoardType,
    arena_option,
    corrections_folder,
    corrections_options,
    margin_option,
    models_argument,
    together,
)
from harness.cli.output import FORMATS, show, tell
from harness.cli.planners import planner_columns
from harness.cli.profiles import ALL, all_profiles, profile_for, profile_options
from harness.domain.board import Board
from harness.domain.estimate import Estimate, Profile
from harness.domain.plan import Comparison
from harness.domain.tflm_options import TflmOptions
from harness.errors import HarnessError, ModelError, UsageError, printable

if TYPE_CHECKING:
    from harness.estimate import ModelFile

C_HEADER: Final = "c-header"


@click.command()
@models_argument
@profile_options
@click.option("--board", type=BoardType(), help="Board id or file: its ABI, and the arena size that it allows.")
@together(method_option, input_shape_option, arena_option, margin_option, *corrections_options)
@together(external_option, shared_arena_option)
@click.option("--planners", is_flag=True, help="Show what other memory planners would make of each model, too.")
@click.option(
    "--format",
    "output_format",
    type=click.Choice([*FORMATS, C_HEADER]),
    default="table",
    show_default=True,
    help="Form of the data; c-header gives the recommended arenas as macros.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="Write the C header to this file, unless it holds it already.",
)
@click.option("--allow-inexact", is_flag=True, help="Write the C header of figures that leave something out, too.")
def command(
    *,
    models: tuple[Path, ...],
    tflm: str,
    abi: str | None,
    tflm_options: TflmOptions,
    board: Board | None,
    method: str,
    input_shapes: tuple[str, ...],
    arena_size: int | None,
    margin_percent: float,
    corrections_dir: Path | None,
    no_corrections: bool,
    external: tuple[Path, ...],
    shared_arena: bool,
    planners: bool,
    output_format: str,
    output: Path | None,
    allow_inexact: bool,
) -> int:
    """Say what arena each model needs, without a device."""
    if output and output_format != C_HEADER:
        raise UsageError("-o goes with --format c-header", hint="send stdout to a file for the other formats")
    profiles = _profiles(tflm, abi, tflm_options, board, method)
    folder = corrections_folder(corrections_dir, no_corrections)
    board_id = board.id if board else None
    estimators = [
        Estimator(profile, method, input_shapes, arena_size, margin_percent, board_id, folder) for profile in profiles
    ]
    if len(estimators) > 1 and (shared_arena or output_format == C_HEADER):
        raise UsageError("this is for one TFLM", measured=f"--tflm {ALL}", hint="name the one that you build with")
    answers, read, status = _ask(models, estimators, planners=planners)
    others = beside([answer.estimate for answer in answers], external)
    if shared_arena and status == 0:
        answers.append(_Answer(estimators[0].shared(read), None))
    if output_format != C_HEADER:
        answers += [_Answer(other, None) for other in others]
        show([answer.as_json() for answer in answers], output_format, _rows(answers))
    elif status == 0:
        estimates = [answer.estimate for answer in answers]
        _refuse_inexact(estimates, allow_inexact=allow_inexact)
        _show_header(estimates, margin_percent, output)
    for found in (answer.estimate for answer in answers):
        tell(found.model, [f"refused_by_tflm: {reason}" for reason in found.refused_by_tflm])
        tell(found.model, [*(f"with the correction {id_}" for id_ in found.corrections), *found.warnings])
    return status or int(any(answer.estimate.refused_by_tflm for answer in answers))


def _profiles(tflm: str, abi: str | None, options: TflmOptions, board: Board | None, method: str) -> Sequence[Profile]:
    if tflm == ALL:
        return all_profiles(abi, options, board)
    return [profile_for(tflm, abi, options, board, method)]


@dataclass(frozen=True)
class _Answer:
    """The estimate of one model, and what planners make of it if that was asked for."""

    estimate: Estimate
    comparison: Comparison | None

    def as_json(self) -> dict[str, object]:
        from harness.results.as_json import estimate_to_json

        return estimate_to_json(self.estimate) | (asdict(self.comparison) if self.comparison else {})

    def as_row(self) -> dict[str, object]:
        row = _row(self.estimate)
        if self.comparison:
            row["lower_bound_bytes"] = self.comparison.lower_bound_bytes
            row |= planner_columns(self.comparison.planners)
        return row


def _ask(
    models: Sequence[Path], estimators: Sequence[Estimator], *, planners: bool
) -> tuple[list[_Answer], list[ModelFile], int]:
    """The estimates of all models, the models that have one, and the exit status; what is wrong is told meanwhile."""
    answers: list[_Answer] = []
    read: list[ModelFile] = []
    statuses = [0]
    for path in models:
        with _told(statuses):
            model = estimators[0].read(path)  # they differ in the profile only
            found = list(_answers(model, estimators, statuses, planners=planners))
            answers += found
            read += [model] if found else []
    if len(estimators) > 1 and len(read) == len(models):
        return answers, read, 0  # what one generation lacks is no error where others are asked, too
    return answers, read, max(statuses)


def _answers(
    model: ModelFile, estimators: Sequence[Estimator], statuses: list[int], *, planners: bool
) -> Iterator[_Answer]:
    for estimator in estimators:
        with _told(statuses):
            compared = _compare(model, estimator.profile) if planners else None
            yield _Answer(estimator.estimate(model), compared)


@contextmanager
def _told(statuses: list[int]) -> Iterator[None]:
    """What goes wrong inside is told, and its exit status kept."""
    try:
        yield
    except HarnessError as error:
        click.echo(f"error: {error}", err=True)
        statuses.append(error.exit_code)


def _rows(answers: list[_Answer]) -> list[dict[str, object]]:
    """One row each; what only some of them have is missing in the others."""
    rows = [answer.as_row() for answer in answers]
    if len({answer.estimate.profile.tflm for answer in answers}) > 1:
        _add_changes(rows)
    columns = list(dict.fromkeys(column for row in rows for column in row))
    return [{column: row.get(column) for column in columns} for row in rows]


def _add_changes(rows: list[dict[str, object]]) -> None:
    """How much more each model uses than with the newest TFLM, which comes first."""
    newest: dict[object, object] = {}
    for row in rows:
        base, used = newest.setdefault(row["model"], row["used_bytes"]), row["used_bytes"]
        row["change_bytes"] = used - base if isinstance(used, int) and isinstance(base, int) else None


def _compare(model: ModelFile, profile: Profile) -> Comparison:
    from harness.estimate import compare

    return compare(model, profile)


def _refuse_inexact(estimates: Sequence[Estimate], *, allow_inexact: bool) -> None:
    """A header goes into a build, where nobody reads warnings.

    Raises:
        ModelError: TFLM refuses a model, so that no arena is large enough for it.
        UsageError: an estimate leaves something out, and the user has not said that it may.
    """
    for estimate in estimates:
        if estimate.refused_by_tflm:
            raise ModelError(f"TFLM refuses it: {estimate.refused_by_tflm[0]}", where=estimate.model)
        if not estimate.exact and not allow_inexact:
            raise UsageError(
                f"the estimate is not exact: {estimate.unknown_parts[0]}",
                where=estimate.model,
                hint="measure the model, or write the header all the same with --allow-inexact",
            )


def _show_header(estimates: list[Estimate], margin_percent: float, output: Path | None) -> None:
    from harness.files.safe import write_if_changed
    from harness.results.c_header import render_header

    header = render_header(
        estimates,
        margin_percent=margin_percent,
        command=shlex.join(["harness", *sys.argv[1:]]),
        file_name=output.name if output else None,
    )
    for note in header.notes:
        click.echo(printable(note), err=True)
    if output is None:
        click.echo(header.text, nl=False)
    else:
        is_new = write_if_changed(output, header.text.encode())
        click.echo(f"{output}: {'written' if is_new else 'holds this already, left untouched'}", err=True)


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
        "exact": estimate.exact,
        "refused_by_tflm": bool(estimate.refused_by_tflm),
    }
