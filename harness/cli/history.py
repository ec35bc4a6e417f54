"""`harness history`."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.cli.options import store_option, together
from harness.cli.output import Row, format_option, show
from harness.errors import ResultError, UsageError

if TYPE_CHECKING:
    from harness.domain.attempt import Attempt
    from harness.results.history import HistoryStep
    from harness.store import Store


@click.command()
@click.argument("model", required=False)
@click.option("--board", "board_id", help="On this board only.")
@click.option("--attempts", "every", is_flag=True, help="Show every attempt, not the changes only.")
@click.option("--sweeps", is_flag=True, help="List the sweeps instead.")
@together(store_option, format_option)
def command(
    *, model: str | None, board_id: str | None, every: bool, sweeps: bool, store: Path, output_format: str
) -> int:
    """Show how the figures of MODEL (file name or SHA-256) went over time, and what changed with them."""
    from harness.results.history import steps
    from harness.store import open_store

    with open_store(store) as opened:
        if sweeps:
            show(_sweep_rows(opened), output_format)
            return 0
        if model is None:
            raise UsageError("which model?", hint=f"one of {', '.join(opened.models()[:20]) or 'none yet'}")
        attempts = opened.history(Path(model).name, board_id)
        if not attempts:
            raise _unknown(opened, Path(model).name)
    if every:
        show([_attempt_row(attempt) for attempt in attempts], output_format)
    else:
        show([_step_row(step) for step in steps(attempts)], output_format)
    return 0


def _unknown(store: Store, model: str) -> ResultError:
    near = difflib.get_close_matches(model, store.models(), n=3)
    hint = f"did you mean {' or '.join(near)}?" if near else "harness history --sweeps lists what was run"
    return ResultError("no attempt at this model came to an end", where=model, hint=hint)


def _step_row(step: HistoryStep) -> Row:
    first, key = step.first, step.first.circumstances
    return {
        "since": first.started_at,
        "until": step.last.ended_at,
        "attempts": step.count,
        "board": first.board,
        "arena_size_bytes": first.asked_arena_bytes,
        "tflm": key.tflm,
        "verdict": first.verdict,
        "used_bytes": first.used_bytes,
        "change_bytes": step.used_delta_bytes,
        "minimum_bytes": first.minimum_bytes,
        "estimate_bytes": first.estimate_bytes,
        "changed": "; ".join(step.changed),
    }


def _attempt_row(attempt: Attempt) -> Row:
    return {
        "attempt": attempt.id,
        "sweep": attempt.sweep,
        "ended": attempt.ended_at,
        "board": attempt.board,
        "dut": attempt.dut,
        "tflm": attempt.circumstances.tflm,
        "build_id": attempt.circumstances.build_id,
        "arena_size_bytes": attempt.asked_arena_bytes,
        "verdict": attempt.verdict,
        "used_bytes": attempt.used_bytes,
        "minimum_bytes": attempt.minimum_bytes,
        "estimate_bytes": attempt.estimate_bytes,
        "log": attempt.log,
    }


def _sweep_rows(store: Store) -> list[Row]:
    return [
        {
            "sweep": sweep.id,
            "started": sweep.started_at,
            "ended": sweep.ended_at or None,
            "host": sweep.host,
            "harness": sweep.harness_version,
            "jobs": sweep.jobs,
        }
        for sweep in store.sweeps()
    ]
