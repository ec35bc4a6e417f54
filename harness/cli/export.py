"""`harness export`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from harness.cli.options import store_option
from harness.errors import UsageError


@click.command()
@click.option(
    "--format",
    "output_format",
    type=click.Choice(["csv", "parquet"]),
    default="csv",
    show_default=True,
    help="Form of the data.",
)
@click.option(
    "-o", "--output", type=click.Path(path_type=Path, dir_okay=False), help="File to write.  [default: stdout]"
)
@click.option("--sweep", type=int, help="Attempts of this sweep only.")
@store_option
def command(output_format: str, output: Path | None, sweep: int | None, store: Path) -> int:
    """Write all attempts, with their full key, as one table."""
    from harness.report.export import to_frame, write_csv, write_parquet
    from harness.store import open_store

    with open_store(store) as opened:
        frame = to_frame(opened.attempts(sweep))
    if output_format == "parquet":
        if output is None:
            raise UsageError("Parquet is no text", hint="name a file with -o")
        write_parquet(frame, output)
    elif output is None:
        write_csv(frame, sys.stdout)
    else:
        with output.open("w", encoding="utf-8", newline="") as file:
            write_csv(frame, file)
    return 0
