"""`harness config`."""

from __future__ import annotations

import click

from harness.cli.output import Row, format_option, show
from harness.cli.project_file import KEYS, NAME, ProjectFile
from harness.errors import printable


@click.command()
@format_option
@click.pass_context
def command(context: click.Context, output_format: str) -> None:
    """Show what options default to here, and where from.

    The file harness.toml, in the working folder or above it, sets them for all commands; an option on the command line
    wins. Its keys are those shown; paths in it are relative to it. `harness --config FILE` takes another file.
    """
    file: ProjectFile | None = context.obj
    rows: list[Row] = [_row(key.name, key.about, file) for key in KEYS]
    shown = [{**row, "value": printable(str(row["value"] or ""))} for row in rows]
    show(rows, output_format, shown)
    if file is None and output_format == "table":
        click.echo(f"no {NAME} here or above: each command's own defaults hold", err=True)


def _row(key: str, about: str, file: ProjectFile | None) -> Row:
    is_set = file is not None and key in file.values
    return {
        "key": key,
        "value": file.values[key] if file and is_set else None,
        "from": str(file.path) if file and is_set else "the command's own default",
        "about": about,
    }
