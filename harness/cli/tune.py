"""`harness tune`."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.cli.output import format_option, show
from harness.errors import HarnessError

if TYPE_CHECKING:
    from harness.domain.correction import Correction
    from harness.domain.estimate import Profile


@click.command()
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("results/corrections"),
    show_default=True,
    help="Folder for the corrections, one file per profile.",
)
@format_option
def command(files: tuple[Path, ...], output: Path, output_format: str) -> int:
    """Learn corrections of the estimate from measurements.

    FILES are what `harness run --format json` prints. A correction is a number of bytes per section of the arena. It is
    written only when it helps models that were held out of the fit; exact profiles are left alone. Exit status 2: too
    few models (five are needed), or no help.
    """
    from harness.results.as_json import read_results
    from harness.results.tune import pair_up, samples_of, tune

    pairs = pair_up(map(read_results, files))
    today = datetime.now(UTC).date().isoformat()
    fitted: list[tuple[Profile, Correction | None]] = []
    status = 0
    for profile in sorted(pairs, key=lambda each: each.id):
        try:
            correction = tune(profile, samples_of(pairs[profile]), [path.name for path in files], today)
        except HarnessError as error:
            click.echo(f"error: {error}", err=True)
            status = max(status, error.exit_code)
            continue
        fitted.append((profile, correction))
        if correction:
            _write(correction, output)
        else:
            click.echo(f"{profile.id}: every estimate is exact, there is nothing to correct", err=True)
    show([_as_json(*one) for one in fitted], output_format, [_as_row(*one) for one in fitted])
    return status


def _write(correction: Correction, folder: Path) -> None:
    from harness.estimate import same_but_for_the_date, to_toml
    from harness.files.safe import write_atomically

    path = folder / f"{correction.profile.id}.toml"
    text = to_toml(correction)
    if path.is_file() and same_but_for_the_date(path.read_text("utf-8", "replace"), text):
        click.echo(f"{path}: holds this already, left untouched", err=True)
        return
    folder.mkdir(parents=True, exist_ok=True)
    write_atomically(path, text.encode())
    click.echo(f"{path}: written; review it and commit it", err=True)


def _as_json(profile: Profile, correction: Correction | None) -> dict[str, object]:
    if correction is None:
        return {"profile": profile.id, "correction": None, "offsets": []}
    return {
        "profile": profile.id,
        "correction": correction.id,
        "offsets": [asdict(offset) for offset in correction.offsets],
        "minimum_bytes": correction.minimum_bytes,
        "models": [asdict(model) for model in correction.models],
        "held_out_before": asdict(correction.before),
        "held_out_after": asdict(correction.after),
    }


def _as_row(profile: Profile, correction: Correction | None) -> dict[str, object]:
    terms = [f"{offset.section} {offset.size_bytes:+,}" for offset in correction.offsets] if correction else []
    before, after = (correction.before, correction.after) if correction else (None, None)
    return {
        "profile": profile.id,
        "correction": ", ".join(terms) or "none",
        "models": len(correction.models) if correction else None,
        "mean_error_before": before.mean_bytes if before else 0.0,
        "mean_error_after": after.mean_bytes if after else 0.0,
        "too_low_before": before.under_estimates if before else 0,
        "too_low_after": after.under_estimates if after else 0,
    }
