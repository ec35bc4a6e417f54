"""`harness check`."""

from __future__ import annotations

import difflib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.cli.options import store_option, threshold_option, together
from harness.cli.output import Row, format_option, show
from harness.domain.finding import KINDS

if TYPE_CHECKING:
    from harness.domain.finding import Checked, Figure

_BASELINES = Path("results/baselines")


@click.command()
@click.option("--sweep", type=int, help="The sweep to check.  [default: the last one]")
@click.option(
    "--baseline",
    default="default",
    show_default=True,
    help=f"Name of a baseline in {_BASELINES}, or the path of a .json file.",
)
@click.option("--no-baseline", is_flag=True, help="Check budgets and estimates only.")
@click.option("--update-baseline", is_flag=True, help="Make the sweep the baseline, and show what changes.")
@click.option(
    "--budgets",
    "budgets_file",
    type=click.Path(path_type=Path),
    help="Bytes per model and board.  [default: budgets.toml, where there is one]",
)
@click.option(
    "--tolerance",
    "tolerance_bytes",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="Bytes that a model may grow or shrink unnoticed.",
)
@click.option(
    "--allow", multiple=True, type=click.Choice(KINDS), help="Kinds of findings that are shown, but no failure."
)
@click.option("--junit", type=click.Path(path_type=Path, dir_okay=False), help="Write JUnit XML to this file.")
@click.option(
    "--annotations/--no-annotations",
    default=None,
    help="Also say findings on stderr as GitHub takes them.  [default: where GITHUB_ACTIONS is set]",
)
@together(store_option, threshold_option, format_option)
def command(
    *,
    sweep: int | None,
    baseline: str,
    no_baseline: bool,
    update_baseline: bool,
    budgets_file: Path | None,
    tolerance_bytes: int,
    allow: tuple[str, ...],
    junit: Path | None,
    annotations: bool | None,
    store: Path,
    threshold_percent: float,
    output_format: str,
) -> int:
    """Compare a sweep with a baseline and with budgets.

    Findings: new, gone, grew, shrank, over_budget, estimate_off, verdict_changed, not_measured. Exit status 1 when
    there is one that is not allowed.
    """
    from harness.results.budgets import Budgets, read_budgets
    from harness.results.check import CheckLimits, check, read_baseline, updated_baseline
    from harness.store import open_store

    if budgets_file is None and Path("budgets.toml").is_file():
        budgets_file = Path("budgets.toml")
    limits = CheckLimits(read_budgets(budgets_file) if budgets_file else Budgets(), threshold_percent, tolerance_bytes)
    path = Path(baseline) if baseline.endswith(".json") else _BASELINES / f"{baseline}.json"
    with open_store(store) as opened:
        results = opened.job_results(opened.sweep(sweep).id)
    before = [] if update_baseline and not path.exists() else None if no_baseline else read_baseline(path)
    if update_baseline:
        _update(path, before or [], updated_baseline(results, before or []))
        before = read_baseline(path)
    rows = check(results, before, limits)
    _tell(rows, frozenset(allow), junit, annotations)
    show([each for row in rows for each in _as_rows(row)], output_format)
    return int(any(finding.kind not in allow for row in rows for finding in row.findings))


def _update(path: Path, before: Sequence[Figure], after: Sequence[Figure]) -> None:
    """Write the baseline, and show the difference on stderr: it is to be reviewed and committed."""
    from harness.files.safe import write_atomically
    from harness.results.check import baseline_to_text

    old, new = (baseline_to_text(figures) for figures in (before, after))
    if old == new and path.exists():
        click.echo(f"{path}: holds this already, left untouched", err=True)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, new.encode())
    for line in difflib.unified_diff(old.splitlines(), new.splitlines(), "before", str(path), lineterm="", n=4):
        click.echo(line, err=True)
    click.echo(f"{path}: written; review it and commit it", err=True)


def _tell(rows: Sequence[Checked], allowed: frozenset[str], junit: Path | None, annotated: bool | None) -> None:
    if junit is not None:
        from harness.files.safe import write_atomically
        from harness.report.junit import to_junit

        write_atomically(junit, to_junit(rows, allowed))
    if annotated is None:
        annotated = os.environ.get("GITHUB_ACTIONS") == "true"
    if annotated:
        from harness.report.annotations import workflow_commands

        for row in rows:
            for line in workflow_commands(row, allowed):
                click.echo(line, err=True)


def _as_rows(row: Checked) -> list[Row]:
    """One line per finding; one that says `ok` where there is none."""
    figure = row.figure
    what = {
        "board": figure.board,
        "model": figure.model,
        "tflm": figure.tflm,
        "arena_size_bytes": figure.arena_size_bytes or None,
        "used_bytes": figure.used_bytes,
        "minimum_bytes": figure.minimum_bytes,
    }
    if not row.findings:
        return [{**what, "finding": "ok", "expected_bytes": None, "message": ""}]
    return [
        {**what, "finding": each.kind, "expected_bytes": each.expected_bytes, "message": each.message}
        for each in row.findings
    ]
