"""`harness sweep`."""

from __future__ import annotations

from pathlib import Path

import click

from harness.cli.options import (
    BytesType,
    corrections_folder,
    corrections_options,
    invokes_option,
    no_nan,
    operators_for,
    operators_option,
    store_option,
    threshold_option,
    together,
    tree_options,
)
from harness.cli.output import format_option
from harness.domain.tflm_options import TflmOptions

_LAST = "last"


@click.command()
@click.argument("arguments", metavar="[PLAN.toml | MODEL...]", nargs=-1, type=click.Path(path_type=Path))
@click.option("--models", multiple=True, type=click.Path(path_type=Path), help="Model files.")
@click.option(
    "--boards",
    multiple=True,
    metavar="ID",
    help="Board ids or board files; also several, with commas.  [default: those of --bench and --units]",
)
@click.option(
    "--tflm",
    multiple=True,
    metavar="NAME",
    help="TFLM to build: crate (the one of 2020-07), the folder of your own TFLM's sources, or a manifest; several are "
    "compared.  [default: crate]",
)
@click.option(
    "--arena", multiple=True, type=BytesType(), help="Arena sizes (such as 80k).  [default: the largest that fits]"
)
@click.option("--min-arena", is_flag=True, help="Also find the smallest arena that works, by bisection.")
@click.option("--bench", type=click.Path(path_type=Path), help="File that lists the units on your desk.")
@click.option(
    "--units", multiple=True, metavar="BOARD[=N]", help="How many virtual boards to start.  [default: one of each]"
)
@click.option("--cluster", metavar="ADDRESS", help="Use the units that workers offer to this dask scheduler.")
@click.option("--dry-run", is_flag=True, help="Print the plan, and do nothing.")
@click.option(
    "--resume", is_flag=False, flag_value=_LAST, metavar="[SWEEP]", help="Go on with a sweep; by default the last one."
)
@click.option(
    "--retries",
    multiple=True,
    metavar="N|CLASS=N",
    help="Tries after bench trouble, also per error class.  [default: 2]",
)
@click.option(
    "--set-aside-after",
    type=click.IntRange(1),
    default=3,
    show_default=True,
    help="So many different jobs that fail in a row set a unit aside.",
)
@click.option(
    "--deadline",
    type=click.FloatRange(min=0, min_open=True),
    callback=no_nan,
    help="Seconds after which no job is begun.",
)
@click.option(
    "--power-hook",
    metavar="COMMAND",
    help="Switches a unit's power off and on after trouble; {dut}, {board}, {probe}, {port} stand for the unit's.",
)
@click.option(
    "--power-hook-timeout",
    type=click.FloatRange(min=0, min_open=True),
    callback=no_nan,
    default=60.0,
    show_default=True,
    help="Seconds for the power hook, and again for the board to answer after it.",
)
@together(
    tree_options, store_option, operators_option, invokes_option, threshold_option, *corrections_options, format_option
)
def command(
    *,
    arguments: tuple[Path, ...],
    models: tuple[Path, ...],
    boards: tuple[str, ...],
    tflm: tuple[str, ...],
    tflm_options: TflmOptions,
    arena: tuple[int, ...],
    min_arena: bool,
    bench: Path | None,
    units: tuple[str, ...],
    cluster: str | None,
    dry_run: bool,
    resume: str | None,
    retries: tuple[str, ...],
    set_aside_after: int,
    deadline: float | None,
    power_hook: str | None,
    power_hook_timeout: float,
    store: Path,
    ops: str,
    invokes: int,
    threshold_percent: float,
    corrections_dir: Path | None,
    no_corrections: bool,
    output_format: str,
) -> int:
    """Run many models on many boards and settings, side by side, and keep every attempt.

    What is to be done stands in a plan file, in options, or in both; options come first. A sweep that was cut off goes
    on with --resume, which does nothing twice; with more --retries it also takes up jobs that ended with bench trouble.
    Exit status: the worst of its rows, as for harness run.
    """
    import shlex
    from dataclasses import replace

    from harness.cli.sweeping import Settings, dry_run_and_show, parse_units, plan_from, resume_and_show, sweep_and_show
    from harness.domain.recipe import Recipe
    from harness.session import RunOptions
    from harness.sweep.plan import SweepPlan
    from harness.sweep.policy import Policy, parse_retries

    general, by_class = parse_retries(retries)
    policy = Policy(
        retries=general,
        by_class=by_class,
        set_aside_after=set_aside_after,
        deadline_s=deadline,
        power_hook=tuple(shlex.split(power_hook)) if power_hook else (),
        power_hook_timeout_s=power_hook_timeout,
    )
    options = RunOptions(
        recipe=Recipe(invokes=invokes),
        tflm_options=tflm_options,
        threshold_percent=threshold_percent,
        corrections=corrections_folder(corrections_dir, no_corrections),
    )
    settings = Settings(store, policy, options, output_format, cluster)
    asked = SweepPlan(models, boards, tflm, arena, min_arena, bench, parse_units(units))
    if resume is not None:
        return resume_and_show(None if resume == _LAST else resume, asked, settings)
    plan = plan_from(arguments, asked)
    settings = replace(settings, options=replace(options, operators=operators_for(ops, plan.models)))
    return dry_run_and_show(plan, output_format) if dry_run else sweep_and_show(plan, settings)
