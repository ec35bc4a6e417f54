"""What `run`, `min-arena` and `demo` share: run models, print the rows, tell the worst exit status."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import click

from harness.cli.output import Row, show
from harness.cli.progress import StderrProgress
from harness.domain.board import Board
from harness.domain.reconciliation import Reconciliation, recorded_sections
from harness.domain.run_options import RunOptions
from harness.errors import InterruptedRunError, StorageError, printable
from harness.files.folders import state_folder
from harness.results.as_json import reconciliation_to_json
from harness.results.postmortem_file import write_postmortem
from harness.results.reconcile import table
from harness.runs import run_models

_HEADINGS = {
    "arena_size_bytes": "arena",
    "estimate_bytes": "estimate",
    "used_bytes": "used",
    "painted_bytes": "painted",
    "minimum_bytes": "minimum",
    "error_bytes": "error",
    "error_percent": "error %",
}


def run_and_show(
    board: Board,
    paths: Sequence[Path],
    options: RunOptions,
    output_format: str,
    answers: Collection[str] = (),
) -> int:
    """Run the models, print one row each, and return the exit status.

    What is already known when Ctrl-C or trouble on the bench ends the run is printed all the same.

    Args:
        board: the kind of board.
        paths: model files.
        options: how to run them.
        output_format: one of output.FORMATS.
        answers: verdicts that are as good an answer as `ok`.
    """
    rows: list[Reconciliation] = []
    progress = StderrProgress()
    try:
        for number, row in enumerate(run_models(board, paths, options, progress), 1):
            progress(f"measured {row.model}", number, len(paths) + options.shared_arena)
            rows.append(_with_saved_postmortem(row))
    except KeyboardInterrupt:
        raise InterruptedRunError(
            "interrupted",
            measured=f"{len(rows)} of {len(paths)} models done",
            hint="board, port and locks were given back",
        ) from None
    finally:
        progress.clear()
        if rows:
            show_rows(rows, output_format)
    return exit_status([row for row in rows if row.verdict not in answers])


def _with_saved_postmortem(row: Reconciliation) -> Reconciliation:
    """A row that says where its post-mortem lies, if it has one."""
    if row.postmortem is None:
        return row
    name = f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{os.getpid()}-{row.sha256[:8]}.json"
    try:
        path = state_folder() / "postmortem" / name
        write_postmortem(path, row.postmortem)
    except StorageError as error:
        return replace(row, causes=(*row.causes, f"the post-mortem is not kept: {error.what}"))
    return replace(row, causes=(*row.causes, f"all that was found: harness postmortem {path}"))


def show_rows(rows: Sequence[Reconciliation], output_format: str) -> None:
    """Print reconciliations; in tables recorded sections and causes follow below, since they are long."""
    if output_format == "json":
        show([reconciliation_to_json(row) for row in rows], output_format)
        return
    frame = table(rows).astype(object)
    known = frame.where(frame.notna(), None)
    records: list[Row] = [
        {str(column): value for column, value in record.items()} for record in known.to_dict("records")
    ]
    if output_format == "csv":  # one table only
        show(records, output_format)
        return
    if output_format == "table":
        click.echo("bytes of the arena; what they mean: harness run --help")
    show(_for_people(records) if output_format == "table" else records, output_format)
    _show_sections(rows, output_format)
    if output_format == "table":
        _show_causes(rows)


def _show_sections(rows: Sequence[Reconciliation], output_format: str) -> None:
    """What TFLM recorded, beside the estimate of each section; nothing where it does not record."""
    records: list[Row] = [
        {
            "model": row.model,
            "section": section.name,
            "estimate": section.estimate_bytes,
            "recorded": section.measured_bytes,
            "error": section.error_bytes,
        }
        for row in rows
        for section in recorded_sections(row.estimate, row.measurement)
    ]
    if records:
        click.echo()
        show(records, output_format)


def _show_causes(rows: Sequence[Reconciliation]) -> None:
    for row in rows:
        if row.causes:
            click.echo(f"\n{printable(row.model)}")
        for cause in row.causes:
            click.echo(f"  {printable(cause)}")


def _for_people(records: Sequence[Row]) -> list[Row]:
    """Short headings, and no column that is empty all the way down."""
    columns = records[0] if records else ()
    shown = [key for key in columns if key != "causes" and any(record[key] is not None for record in records)]
    return [{_HEADINGS.get(key, key): record[key] for key in shown} for record in records]


def exit_status(rows: Sequence[Reconciliation]) -> int:
    """The worst of the rows' own: bench trouble before wrong input before a verdict."""
    return max((row.exit_code for row in rows), default=os.EX_OK)
