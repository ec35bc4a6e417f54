"""What `harness sweep` does, once its options are understood: plan, print or run, and show the final table."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import click

from harness.bench.boards import load_board
from harness.cli.output import counted, show
from harness.cli.running import exit_status, show_rows
from harness.cli.sweep_progress import shown
from harness.domain.attempt import JobResult
from harness.domain.board import Board
from harness.domain.reconciliation import VERDICTS, Reconciliation
from harness.domain.tflm_options import TflmOptions
from harness.errors import PluginError, ResultError, UsageError
from harness.files.fields import Fields
from harness.results.as_json import tflm_options_from_json, tflm_options_to_json
from harness.results.side_by_side import side_by_side, tflms, used_changes_bytes
from harness.session import RunOptions
from harness.store import Store, open_store
from harness.sweep.claims import claim_duts, claim_sweep
from harness.sweep.crew import Crew, ThreadCrew
from harness.sweep.dut_runner import DutRunner
from harness.sweep.outcome_table import sweep_row_to_json, sweep_rows
from harness.sweep.plan import SweepPlan, boards_at_hand, plan_duts, plan_jobs, read_plan
from harness.sweep.policy import Policy
from harness.sweep.runner import describe, run_sweep, unfinished


@dataclass(frozen=True)
class Settings:
    """What is not part of the matrix.

    Attributes:
        store: the results database.
        policy: what to do about trouble.
        options: what all jobs have in common.
        output_format: of the final table.
        cluster: address of the scheduler whose workers' units are used; None for units of this machine.
    """

    store: Path
    policy: Policy
    options: RunOptions
    output_format: str
    cluster: str | None = None


def parse_units(words: Sequence[str]) -> dict[str, int]:
    """How many virtual boards to start, from words such as `stm32f407-virtual=2`; without a number, one.

    Raises:
        UsageError: a word is something else.
    """
    units = {}
    for word in words:
        board, digits = word.rsplit("=", 1) if "=" in word else (word, "1")
        if not board or not re.fullmatch("[0-9]{1,4}", digits) or not int(digits):
            raise UsageError(f"{word!r} is no number of units", where="--units", expected="such as stm32f407-virtual=2")
        units[board] = int(digits)
    return units


def plan_from(arguments: Sequence[Path], asked: SweepPlan) -> SweepPlan:
    """The plan: what the file says, unless an option says otherwise.

    Args:
        arguments: a plan file, or further models (`--models *.tflite` makes arguments of all but the first).
        asked: what the options say; empty where they say nothing.

    Raises:
        UsageError: several plan files, or one that cannot be used.
    """
    files = [path for path in arguments if path.suffix == ".toml"]
    if len(files) > 1:
        raise UsageError("several plan files", measured=", ".join(map(str, files)), expected="one")
    written = read_plan(files[0]) if files else SweepPlan()
    models = asked.models + tuple(path for path in arguments if path.suffix != ".toml")
    boards = tuple(board for words in asked.boards for board in words.split(",") if board)
    plan = SweepPlan(
        models=models or written.models,
        boards=boards or written.boards,
        tflm=asked.tflm or written.tflm,
        arenas=asked.arenas or written.arenas,
        min_arena=asked.min_arena or written.min_arena,
        bench=asked.bench or written.bench,
        units={**written.units, **asked.units},
    )
    return plan if plan.boards else replace(plan, boards=boards_at_hand(plan))


def dry_run_and_show(plan: SweepPlan, output_format: str) -> int:
    """Print the matrix and the units that it would run on."""
    jobs = plan_jobs(plan)
    for dut in plan_duts(plan):
        click.echo(f"unit {describe(dut)}", err=True)
    show(
        [
            {
                "job": planned.job.number,
                "board": planned.job.board,
                "tflm": planned.job.tflm,
                "model": planned.job.model,
                "arena_size_bytes": planned.job.arena_size_bytes,
                "min_arena": planned.job.min_arena,
                "refused": planned.refused.what if planned.refused else None,
            }
            for planned in jobs
        ],
        output_format,
    )
    return max((planned.refused.exit_code for planned in jobs if planned.refused), default=0)


def sweep_and_show(plan: SweepPlan, settings: Settings) -> int:
    """Run a new sweep, and print its table."""
    planned = plan_jobs(plan)
    with _crew(plan, settings) as crew, open_store(settings.store, create=True) as store:
        sweep = store.begin_sweep([each.job for each in planned], _remembered(plan, settings))
        for each in planned:
            if each.refused:
                store.give_up_job(sweep, each.job.number, str(each.refused).splitlines(), each.refused.exit_code)
        with claim_sweep(settings.store, sweep):
            return _run_and_show(store, sweep, crew, settings)


def resume_and_show(wanted: str | None, asked: SweepPlan, settings: Settings) -> int:
    """Go on with a sweep, and print its table.

    Args:
        wanted: the sweep's id; None for the last one.
        asked: other units than those that it was begun with, if it names any.
        settings: its store; what its jobs have in common comes from the store.

    Raises:
        ResultError: there is no such sweep.
        BenchError: another program is at it.
    """
    if wanted is not None and not wanted.isdecimal():
        raise UsageError(f"{wanted!r} is no sweep", where="--resume", expected="its number")
    with open_store(settings.store) as store:
        sweep = store.sweep(None if wanted is None else int(wanted))
        said = Fields(f"options of sweep {sweep.id}", json.loads(sweep.options), ResultError)
        plan, options = _recalled(said, settings.options)
        plan = replace(plan, bench=asked.bench or plan.bench, units={**plan.units, **asked.units})
        settings = replace(settings, options=options)
        with claim_sweep(settings.store, sweep.id), _crew(plan, settings) as crew:
            store.resume_sweep(sweep.id)
            return _run_and_show(store, sweep.id, crew, settings)


@contextmanager
def _crew(plan: SweepPlan, settings: Settings) -> Iterator[Crew]:
    """The units of this machine, or of a cluster."""
    options = settings.options
    with ExitStack() as stack:
        crew: Crew
        if settings.cluster is None:
            free = stack.enter_context(claim_duts(plan_duts(plan), _note))
            crew = ThreadCrew(free, lambda dut: DutRunner(dut, options))
        else:
            boards = [load_board(board) for board in plan.boards]
            crew = stack.enter_context(_cluster_crew()(settings.cluster, boards, options))
        stack.callback(crew.close)
        yield crew


def _cluster_crew() -> Callable[[str, Sequence[Board], RunOptions], AbstractContextManager[Crew]]:
    try:
        from harness.cluster.crew import cluster_crew
    except ImportError as error:
        raise PluginError(f"dask cannot be loaded: {error}", hint="pip install 'harness[cluster]'") from error
    return cluster_crew


def _run_and_show(store: Store, sweep: int, crew: Crew, settings: Settings) -> int:
    duts = crew.duts
    left = len(unfinished(store.job_results(sweep), settings.policy))
    click.echo(
        f"sweep {sweep}: {counted(left, 'job')} on {counted(len(duts), 'unit')}; results in {settings.store}", err=True
    )
    try:
        with shown([dut.name for dut in duts], left) as progress:
            run_sweep(store, sweep, crew, settings.policy, progress)
    finally:
        crew.close()
        rows = sweep_rows(store, sweep)
        _show(rows, settings.output_format)
        _note(f"sweep {sweep}: {_summary([result for result, _ in rows])}")
    return exit_status([row for _, row in rows])


def _summary(results: Sequence[JobResult]) -> str:
    """How many jobs came to which verdict, and how many of them were flaky."""
    counts = Counter(result.verdict for result in results)
    counts["flaky"] = sum(result.flaky for result in results)
    return ", ".join(f"{counts[word]} {word}" for word in (*VERDICTS, "flaky") if counts[word])


def _show(rows: Sequence[tuple[JobResult, Reconciliation]], output_format: str) -> None:
    results = [result for result, _ in rows]
    if output_format == "json":
        changes = used_changes_bytes(results)
        show([sweep_row_to_json(*each, change) for each, change in zip(rows, changes, strict=True)], output_format)
        return
    show_rows([row for _, row in rows], output_format)
    asked = tflms(results)
    if len(asked) > 1 and output_format != "csv":  # csv: one table only
        click.echo(f"\nside by side; change: bytes used more than with {asked[0]}\n")
        show(side_by_side(results), output_format)


def _remembered(plan: SweepPlan, settings: Settings) -> dict[str, object]:
    """What --resume needs to know; paths absolute, since it may be called from elsewhere."""
    options = settings.options
    return {
        "boards": [str(Path(board).absolute()) if board.endswith(".toml") else board for board in plan.boards],
        "bench": str(plan.bench.absolute()) if plan.bench else None,
        "units": dict(plan.units),
        "tflm_options": tflm_options_to_json(options.tflm_options),
        "invokes": options.recipe.invokes,
        "threshold_percent": options.threshold_percent,
        "corrections": str(options.corrections.absolute()) if options.corrections else None,
        "operators": sorted(options.operators) if options.operators is not None else None,
    }


def _recalled(said: Fields, options: RunOptions) -> tuple[SweepPlan, RunOptions]:
    """The reverse of `_remembered`."""
    plan = SweepPlan(
        boards=said.texts("boards"),
        bench=Path(said.text("bench")) if said.has("bench") else None,
        units=said.inner("units").all_integers(),
    )
    return plan, replace(
        options,
        tflm_options=tflm_options_from_json(said.inner("tflm_options")) if said.has("tflm_options") else TflmOptions(),
        recipe=replace(options.recipe, invokes=said.integer("invokes")),
        threshold_percent=said.number("threshold_percent", 0, 1000),
        corrections=Path(said.text("corrections")) if said.has("corrections") else None,
        operators=frozenset(said.texts("operators")) if said.has("operators") else None,
    )


def _note(text: str) -> None:
    click.echo(text, err=True)
