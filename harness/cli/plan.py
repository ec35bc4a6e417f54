"""`harness plan`."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.cli.estimating import Estimator, input_shape_option
from harness.cli.options import BoardType, models_argument, together
from harness.cli.output import Row, format_option, show, tell
from harness.cli.planners import planner_columns
from harness.cli.profiles import profile_for, profile_options
from harness.domain.board import Board
from harness.domain.estimate import Profile
from harness.domain.plan import MemoryPlan, TimelineBar
from harness.domain.tflm_options import TflmOptions
from harness.errors import HarnessError, UsageError

if TYPE_CHECKING:
    from harness.estimate import ModelFile

_NAME_LIMIT = 48
"""Longer names are cut short in tables; JSON has them whole."""

_SYMPTOMS = """
\b
What a device shows, and what to look at:

\b
AllocateTensors fails ("Failed to resize buffer",
"Failed to allocate tail memory"):
  the arena is smaller than the minimum. `harness
  estimate` gives it; it is often above
  arena_used_bytes, because planning needs room, too.
\b
Wrong results from the second run on, or inputs that
change by themselves:
  the memory of a tensor is reused after its last
  reader. Fill every input before each Invoke, copy
  outputs before the next, and keep no pointers.
  The timeline says who takes the place over;
  --persistent NAME says what it costs to forbid it.
\b
The arena looks large enough, yet memory runs out, or a
kernel writes outside the arena:
  scratch that a kernel takes with malloc, from the
  stack or from a static array does not show in any
  plan. `harness run` paints guards around the arena
  and measures the stack.
\b
Much of the arena stays unused at the peak:
  more than 15 % is fragmentation: --write-offline, or
  another order of the operators, can save it.
"""


@click.command(epilog=_SYMPTOMS)
@models_argument
@profile_options
@together(
    click.option("--board", type=BoardType(), help="Board id or file: its ABI."),
    input_shape_option,
    click.option("--persistent", multiple=True, metavar="NAME", help="Say what it costs never to share this tensor."),
    click.option(
        "--write-offline",
        type=click.Path(path_type=Path),
        metavar="OUT",
        help="Write a copy of the model that carries the best plan, if that is smaller than TFLM's own.",
    ),
    click.option("--replace-plan", is_flag=True, help="Replace an offline plan that the model has already."),
    click.option("--force", is_flag=True, help="Overwrite OUT."),
    format_option,
)
def command(
    *,
    models: tuple[Path, ...],
    tflm: str,
    abi: str | None,
    tflm_options: TflmOptions,
    board: Board | None,
    input_shapes: tuple[str, ...],
    persistent: tuple[str, ...],
    write_offline: Path | None,
    replace_plan: bool,
    force: bool,
    output_format: str,
) -> int:
    """Show the memory plan of each model: planners, peak, fragmentation, long-lived tensors, possible savings."""
    from harness.estimate import analyse

    if write_offline and len(models) > 1:
        raise UsageError("--write-offline takes one model", measured=f"{len(models)} models")
    profile = profile_for(tflm, abi, tflm_options, board)
    estimator = Estimator(profile, shapes=input_shapes, board=board.id if board else None)
    plans: list[MemoryPlan] = []
    status = 0
    for path in models:
        try:
            plans.append(analyse(estimator.read(path), profile, persistent=persistent, board=estimator.board))
        except HarnessError as error:
            click.echo(f"error: {error}", err=True)
            status = max(status, error.exit_code)
    _show(plans, output_format)
    if write_offline and not status:
        _check_target(write_offline, models[0], force=force)
        _write(estimator.read(models[0]), write_offline, profile, replace_plan=replace_plan)
    return status


def _check_target(target: Path, source: Path, *, force: bool) -> None:
    if target.exists() and target.samefile(source):
        raise UsageError("this is the model itself: nothing is written", where=target, hint="name another file")
    if target.exists() and not force:
        raise UsageError("the file exists: nothing is written", where=target, hint="--force overwrites it")


def _write(model: ModelFile, target: Path, profile: Profile, *, replace_plan: bool) -> None:
    from harness.estimate import plan_offline
    from harness.files.safe import write_atomically

    planned = plan_offline(model, profile, replace_plan=replace_plan)
    before, after = planned.before, planned.after
    if planned.gain_bytes <= 0:  # an answer, since the option promises a copy only where one is better
        click.echo(
            f"{target}: not written, since no plan was found that is smaller than the one TFLM has now: "
            f"an arena of {after.arena_used_bytes:,} bytes instead of {before.arena_used_bytes:,}",
            err=True,
        )
        return
    write_atomically(target, planned.model.data)
    click.echo(
        f"{target}: written; head {before.head_bytes:,} -> {after.head_bytes:,} bytes, "
        f"arena_used_bytes {before.arena_used_bytes:,} -> {after.arena_used_bytes:,}, "
        f"smallest working arena {before.min_working_arena_bytes:,} -> {after.min_working_arena_bytes:,}",
        err=True,
    )
    if before.min_working_arena_bytes == after.min_working_arena_bytes:
        click.echo("the smallest working arena is the same: AllocateTensors needs that much by itself", err=True)


def _show(plans: list[MemoryPlan], output_format: str) -> None:
    show([asdict(plan) for plan in plans], output_format, [_summary(plan) for plan in plans])
    if output_format in ("table", "markdown"):
        for plan in plans:
            _show_details(plan, output_format)
    for plan in plans:
        tell(plan.model, plan.warnings)


def _summary(plan: MemoryPlan) -> Row:
    return {
        "model": plan.model,
        "tflm": plan.tflm,
        "head_bytes": plan.head_bytes,
        "lower_bound_bytes": plan.lower_bound_bytes,
        **planner_columns(plan.planners),
        "best_plan_bytes": plan.best_plan.arena_bytes,
        "best_order_bytes": plan.best_order.head_bytes if plan.best_order else None,
        "fragmentation_percent": plan.peak.fragmentation_percent,
        "peak_operator": plan.peak.operator,
    }


def _show_details(plan: MemoryPlan, output_format: str) -> None:
    tables: dict[str, list[Row]] = {
        "planners": [asdict(result) for result in plan.planners],
        "what could be saved": _savings(plan),
        f"in use at the peak ({plan.peak.operator or 'before the first operator'})": [
            _bar(bar) for bar in plan.peak.live
        ],
        "long-lived tensors": [_bar(bar) for bar in plan.long_lived],
        "cost of never sharing": [asdict(cost) | {"names": ", ".join(cost.names)} for cost in plan.persistent],
        "timeline": [_bar(bar) for bar in plan.timeline],
    }
    for title, rows in tables.items():
        if rows:
            click.echo(f"\n{'### ' if output_format == 'markdown' else ''}{plan.model}: {title}\n")
            show(rows, output_format)


def _savings(plan: MemoryPlan) -> list[Row]:
    best, order = plan.best_plan, plan.best_order
    claim = "no plan is smaller" if best.is_optimal else "the best found"
    rows: list[Row] = [_saving(plan, "other placement", best.arena_bytes, f"{claim}: {best.searched}")]
    if best.offline_head_bytes is not None:
        rows.append(_saving(plan, "offline plan", best.offline_head_bytes, "TFLM still places the scratch"))
    if order:
        claim = "no order has a smaller peak" if order.is_complete else "the best found"
        rows.append(_saving(plan, "other operator order", order.head_bytes, f"{claim}: {order.searched}"))
    return rows


def _saving(plan: MemoryPlan, way: str, head_bytes: int, remark: str) -> Row:
    return {"way": way, "head_bytes": head_bytes, "saving_bytes": plan.head_bytes - head_bytes, "remark": remark}


def _bar(bar: TimelineBar) -> Row:
    name = f"scratch of {bar.name}" if bar.kind == "scratch" else bar.name
    return {
        "buffer": name if len(name) <= _NAME_LIMIT else name[: _NAME_LIMIT - 1] + "…",
        "shape": "" if bar.shape is None else f"{bar.type} {list(bar.shape)}",
        "first_operator": bar.first_operator,
        "last_operator": bar.last_operator,
        "offset_bytes": bar.offset_bytes,
        "size_bytes": bar.size_bytes,
    }
