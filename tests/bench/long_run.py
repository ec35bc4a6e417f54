"""Many runs in one process: what is left over of descriptors, threads, children and memory.

Most runs share a session, which is opened anew every 24 runs; each 25th run has one of its own. Every tenth run is one
that the device refuses. `LONG_RUNS` is how many, 1,000 by default.
"""

from __future__ import annotations

import gc
import os
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from harness.bench.boards import load_board
from harness.domain.recipe import Recipe
from harness.estimate import ModelFile
from harness.session import RunOptions, Session, open_session
from tests.bench.table import Row
from tests.support.models import chain

RUNS = int(os.environ.get("LONG_RUNS", "1000"))
WARM_UP = 25
"""Runs after which every module is loaded and every cache is filled."""
MEMORY_BOUND_BYTES = 20_000_000
_RUNS_PER_SESSION = 24
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True)
class Usage:
    """What this process holds.

    Attributes:
        descriptors: open files, sockets and pipes.
        threads: of Python.
        children: processes, those that have ended and were not waited for included.
        resident_bytes: memory.
    """

    descriptors: int
    threads: int
    children: int
    resident_bytes: int


def usage() -> Usage:
    """What this process holds now, garbage left out."""
    gc.collect()
    resident_pages = int(Path("/proc/self/statm").read_text().split()[1])
    children = sum(len(path.read_text().split()) for path in Path("/proc/self/task").glob("*/children"))
    descriptors = sum(1 for _ in Path("/proc/self/fd").iterdir())
    return Usage(descriptors, threading.active_count(), children, resident_pages * _PAGE_BYTES)


def run_many(count: int, per_session: int = _RUNS_PER_SESSION) -> int:
    """Run models `count` times, no session being open afterwards.

    Args:
        count: how often.
        per_session: how many runs share a session before one has its own.

    Returns:
        How many runs ended in another way than they should.
    """
    done = wrong = 0
    while done < count:
        for runs in (min(per_session, count - done), min(1, count - done - per_session)):
            with _session() as session:
                wrong += sum(not _runs_well(session, number) for number in range(done, done + runs))
            done += max(0, runs)
    return wrong


def rows(count: int = RUNS) -> Iterator[Row]:
    """The figures."""
    run_many(WARM_UP)
    before, started = usage(), time.perf_counter()
    wrong = run_many(count)
    seconds, after = time.perf_counter() - started, usage()
    yield Row(f"{count} runs in one process, each", seconds / count, "s")
    yield Row("  that ended in another way than they should", wrong, "", target=0)
    yield Row("  descriptors left over", after.descriptors - before.descriptors, "", target=0)
    yield Row("  threads left over", after.threads - before.threads, "", target=0)
    yield Row("  child processes left over", after.children - before.children, "", target=0)
    grown = after.resident_bytes - before.resident_bytes
    yield Row("  memory grown by", grown / 1e6, "MB", target=MEMORY_BOUND_BYTES / 1e6)


def _session() -> AbstractContextManager[Session]:
    return open_session(load_board("stm32f407-virtual"), RunOptions(), lambda *_: None)


def _runs_well(session: Session, number: int) -> bool:
    model = ModelFile.of(f"model{number % 2}.tflite", chain("LOGISTIC", size=16 * (1 + number % 2)).build())
    too_small = number % 10 == 9
    recipe = Recipe(arena_size_bytes=256 if too_small else None)
    row = session.run(model, RunOptions(recipe=recipe))
    return row.error_class == ("ArenaTooSmallError" if too_small else "")
