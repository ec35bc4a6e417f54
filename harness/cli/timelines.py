"""Memory plans of the models that a report is about."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.domain.plan import MemoryPlan
from harness.errors import HarnessError

if TYPE_CHECKING:
    from harness.report.facts import ReportedAttempt


@dataclass(frozen=True)
class _Wanted:
    """A plan that a report wants, whatever the board: boards with the same ABI share it."""

    sha256: str
    tflm: str
    abi: str
    kernels: str


def memory_plans(jobs: Sequence[ReportedAttempt], places: Iterable[Path], limit: int) -> tuple[list[MemoryPlan], int]:
    """One plan per model and profile among the jobs whose model file is found.

    Args:
        jobs: what was run; only estimated ones can be planned.
        places: where the files may lie; they are known by their SHA-256.
        limit: of plans.

    Returns:
        The plans, and how many more there could be. What cannot be planned is told on stderr.
    """
    abis = {board: _abi(board) for board in {job.board for job in jobs}}
    boards: dict[_Wanted, str] = {}
    for job in jobs:
        abi = abis[job.board]
        if abi and job.estimate_bytes is not None:
            wanted = _Wanted(job.sha256, job.tflm, abi, job.key.get("kernels") or "reference")
            boards.setdefault(wanted, job.board)
    files = _by_hash(places, {wanted.sha256 for wanted in boards})
    found = [(wanted, board) for wanted, board in boards.items() if wanted.sha256 in files]
    plans = [_plan(wanted, board, files[wanted.sha256]) for wanted, board in found[:limit]]
    return [plan for plan in plans if plan], max(0, len(found) - limit)


def _abi(board: str) -> str | None:
    """None for a board of another lab: its results are shown, its plans cannot be made here."""
    from harness.bench.boards import load_board

    try:
        return load_board(board).abi
    except HarnessError:
        return None


def _by_hash(places: Iterable[Path], hashes: set[str]) -> dict[str, Path]:
    found: dict[str, Path] = {}
    for path in places if hashes else ():
        if path.is_file():
            with path.open("rb") as file:
                found.setdefault(hashlib.file_digest(file, "sha256").hexdigest(), path)
    return {sha256: path for sha256, path in found.items() if sha256 in hashes}


def _plan(wanted: _Wanted, board: str, path: Path) -> MemoryPlan | None:
    from harness.domain.estimate import Profile
    from harness.estimate import analyse, read_model

    try:
        return analyse(read_model(path), Profile(wanted.tflm, wanted.abi, wanted.kernels), board=board)
    except HarnessError as error:
        click.echo(f"no memory timeline: {error}", err=True)
        return None
