"""What a sweep gains over a loop that builds, flashes and starts anew for each model."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import platformdirs

from harness.store import open_store
from harness.tflm.crate import CrateProvider
from tests.bench.process import Cost, cost_of
from tests.bench.table import Row
from tests.support.places import SHARED_MODELS

BOARD = "stm32f407-virtual"
NAIVE_MODELS = 2
"""Each costs a build of TFLM."""


def rows() -> Iterator[Row]:
    """The figures, in seconds per job."""
    models = sorted(SHARED_MODELS.glob("*.tflite")) or sorted(
        CrateProvider().example("hello_world.tflite").parent.glob("*.tflite")
    )
    with tempfile.TemporaryDirectory() as folder:
        naive = _naive(models[:NAIVE_MODELS], Path(folder))
        one, _ = _sweep(models, 1, Path(folder))
        two, share = _sweep(models, 2, Path(folder))
    yield Row("build, flash and start anew: seconds per job", naive, "s")
    yield Row(f"sweep of {len(models)} models on one unit, per job", one, "s", target=naive / 5, beside=naive)
    yield Row(f"sweep of {len(models)} models on two units, per job", two, "s", target=one / 1.6, beside=one)
    yield Row("  of the time of two units: spent in attempts", share * 100, "%")


def _naive(models: list[Path], folder: Path) -> float:
    """Seconds per model, everything done anew; the sources of TFLM are there."""
    wall_s = 0.0
    for number, model in enumerate(models):
        cache = folder / f"cache-{number}"
        (cache / "harness").mkdir(parents=True)
        (cache / "harness" / "sources").symlink_to(platformdirs.user_cache_path("harness") / "sources")
        command = [sys.executable, "-m", "harness", "run", str(model), "--board", BOARD, "--force-flash"]
        wall_s += _succeeding(command, {"XDG_CACHE_HOME": str(cache)}).wall_s
    return wall_s / len(models)


def _sweep(models: list[Path], units: int, folder: Path) -> tuple[float, float]:
    """Seconds per job, and the share of the units' time that was spent in attempts."""
    store = folder / f"{units}.db"
    command = [sys.executable, "-m", "harness", "sweep", *map(str, models), "--boards", BOARD]
    cost = _succeeding([*command, "--units", f"{BOARD}={units}", "--store", str(store)], {})
    with open_store(store) as opened:
        attempts = opened.attempts()
    busy_s = sum(
        (datetime.fromisoformat(each.ended_at) - datetime.fromisoformat(each.started_at)).total_seconds()
        for each in attempts
    )
    return cost.wall_s / len(models), busy_s / (units * cost.wall_s)


def _succeeding(command: list[str], environment: dict[str, str]) -> Cost:
    """The cost of a command that came to verdicts: what fails at once would seem fast."""
    cost = cost_of(command, environment)
    if cost.status not in (0, 1, 2):
        raise RuntimeError(f"status {cost.status}: {' '.join(command)}")
    return cost
