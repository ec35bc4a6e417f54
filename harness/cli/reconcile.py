"""`harness reconcile`."""

from __future__ import annotations

from pathlib import Path

import click

from harness.cli.estimating import beside as external_beside
from harness.cli.estimating import external_option
from harness.cli.options import threshold_option
from harness.cli.output import format_option


@click.command()
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=click.Path(path_type=Path))
@external_option
@threshold_option
@format_option
def command(files: tuple[Path, ...], external: tuple[Path, ...], threshold_percent: float, output_format: str) -> int:
    """Lay the estimates in FILES beside the measurements in them.

    FILES are what `harness estimate --format json` and `harness run --format json` print. An estimate in a file of its
    own takes the place of the one that the run made. What other tools say of the same models gets rows of its own.
    """
    from harness.cli.running import exit_status, show_rows
    from harness.results.as_json import read_results
    from harness.results.reconcile import join

    read = [read_results(path) for path in files]
    measurements = [measurement for _, found in read for measurement in found]
    alone = [estimate for estimates, found in read if not found for estimate in estimates]
    beside = [estimate for estimates, found in read if found for estimate in estimates]
    ours = alone or beside
    rows = join(ours, measurements, threshold_percent)
    for path in external:
        theirs = external_beside(ours, [path])
        known = {(estimate.sha256, estimate.board) for estimate in theirs}
        measured = [found for found in measurements if (found.sha256, found.board) in known]
        rows += join(theirs, measured, threshold_percent)
    show_rows(rows, output_format)
    return exit_status(rows)
