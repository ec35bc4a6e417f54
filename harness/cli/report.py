"""`harness report`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.cli.options import together
from harness.errors import PluginError, UsageError
from harness.store import DEFAULT_STORE

if TYPE_CHECKING:
    from harness.report.facts import Heading, Report, ReportedAttempt

_PATH = click.Path(path_type=Path)
_FORMATS = ("html", "markdown")


@dataclass(frozen=True)
class _Found:
    """What there is to report.

    Attributes:
        source: where it comes from, in words.
        jobs: the last outcome of every job.
        past: every outcome, the oldest first.
        models: where the model files may lie.
    """

    source: str
    jobs: list[ReportedAttempt]
    past: list[ReportedAttempt]
    models: list[Path]


@click.command()
@click.argument("files", metavar="[FILE]...", nargs=-1, type=_PATH)
@together(
    click.option("--store", "store_path", type=_PATH, help=f"Results database.  [default: {DEFAULT_STORE}]"),
    click.option("--sweep", type=click.IntRange(min=1), help="Which sweep's results.  [default: the last one]"),
    click.option(
        "--models",
        "models",
        type=click.Path(path_type=Path, file_okay=False, exists=True),
        help="Folder of model files, found by their contents, to draw memory over time.  [default: the sweep's]",
    ),
    click.option("--format", "output_format", type=click.Choice(_FORMATS), default=_FORMATS[0], show_default=True),
    click.option("-o", "--output", type=_PATH, help="File to write.  [default: stdout]"),
)
def command(
    *,
    files: tuple[Path, ...],
    store_path: Path | None,
    sweep: int | None,
    models: Path | None,
    output_format: str,
    output: Path | None,
) -> int:
    """Write one page, or Markdown, of a sweep: results, accuracy, history, DUT health, memory timelines.

    With FILEs, which `harness run --format json` wrote, their rows take the place of the results database; several
    files are taken as one history, in their order.
    """
    if files and (store_path or sweep):
        raise UsageError("--store and --sweep go without FILEs")
    found = _from_files(files) if files else _from_store(store_path or DEFAULT_STORE, sweep)
    text = _render(_compose(found, models), output_format)
    if output is None:
        click.echo(text)
        return 0
    from harness.files.safe import write_atomically

    write_atomically(output, text.encode())
    click.echo(f"{output}: written, {len(text.encode()):,} bytes", err=True)
    return 0


def _from_files(files: Sequence[Path]) -> _Found:
    """The last row for each model, board, TFLM and arena is the result; all rows together are the past."""
    from harness.report.sources import file_outcomes

    past = [outcome for path in files for outcome in file_outcomes(path)]
    last = {(outcome.series, outcome.arena_size_bytes): outcome for outcome in past}
    return _Found(", ".join(path.name for path in files), list(last.values()), past, [])


def _from_store(path: Path, sweep: int | None) -> _Found:
    from harness.report.sources import past_outcomes, sweep_outcomes
    from harness.store import open_store

    with open_store(path) as store:
        chosen = store.sweep(sweep)
        results = store.job_results(chosen.id)
        source = f"{path.name}, sweep {chosen.id} of {chosen.started_at} on {chosen.host}"
        models = [Path(path) for path in dict.fromkeys(result.job.path for result in results)]
        return _Found(source, sweep_outcomes(store, results), past_outcomes(store), models)


def _compose(found: _Found, models: Path | None) -> Report:
    from harness.cli.timelines import memory_plans
    from harness.report.compose import Material, ReportLimits, compose

    limits = ReportLimits()
    places = sorted(models.rglob("*.tflite")) if models else found.models
    plans, unplanned = memory_plans(found.jobs, places, limits.plans)
    material = Material(found.jobs, found.past, plans, unplanned)
    return compose(_heading(found.source), material, limits)


def _heading(source: str) -> Heading:
    from harness.files.version import version
    from harness.report.facts import Heading

    return Heading(source, datetime.now(UTC).isoformat(" ", "minutes").replace("+00:00", " UTC"), version())


def _render(report: Report, output_format: str) -> str:
    if output_format == "markdown":
        from harness.report import markdown

        return markdown.render(report)
    try:
        from harness.report import html
    except ImportError as error:
        raise PluginError(
            f"the page cannot be made: {error}", hint="pip install 'harness[report]', or use --format markdown"
        ) from error
    return html.render(report)
