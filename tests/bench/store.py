"""How fast a results database of 100,000 attempts answers."""

from __future__ import annotations

import dataclasses
import sqlite3
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from harness.domain.attempt import Circumstances, Job
from harness.domain.estimate import Estimate, Profile
from harness.domain.measurement import Measurement, TensorInfo
from harness.domain.reconciliation import Reconciliation
from harness.results.reconcile import reconcile
from harness.store import open_store
from tests.bench.process import cost_of
from tests.bench.table import Row

ATTEMPTS, MODELS = 100_000, 25
BOARD = "stm32f407-virtual"


def rows() -> Iterator[Row]:
    """The figures."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "harness.db"
        fill(path)
        yield Row(f"size of a store of {ATTEMPTS:,} attempts", path.stat().st_size / 1e6, "MB")
        for words, target in (
            (["history", "model00.tflite"], 1.0),
            (["check", "--update-baseline", "--baseline", f"{folder}/baseline.json"], 1.0),
            (["check", "--baseline", f"{folder}/baseline.json"], 1.0),
        ):
            cost = cost_of([sys.executable, "-m", "harness", *words, "--store", str(path)])
            what = " ".join(word for word in words if not word.startswith(folder))
            yield Row(f"harness {what}, {ATTEMPTS:,} attempts", cost.wall_s, "s", target=target)


def fill(path: Path) -> None:
    """Make a store of sweeps that each tried every model once, with figures that change now and then."""
    jobs = [Job(n + 1, f"model{n:02}.tflite", "/models", f"{n:064x}", BOARD, "crate") for n in range(MODELS)]
    with open_store(path, create=True) as store:
        for _ in range(ATTEMPTS // MODELS):
            store.begin_sweep(jobs, {})
        pattern = store.begin_attempt(1, jobs[0], "unit-1")
        store.end_attempt(pattern, _result(), Circumstances("p", "u", "2020-07", "crate", "f" * 64, "reference", "gcc"))
    columns = _columns(path)
    changing = {
        "id": "n",
        "sweep": f"(n - 1) / {MODELS} + 1",
        "job": f"(n - 1) % {MODELS} + 1",
        "model": f"printf('model%02d.tflite', (n - 1) % {MODELS})",
        "sha256": f"printf('%064x', (n - 1) % {MODELS})",
        "used_bytes": "1000 + 16 * (n / 20000)",
        "build_id": "printf('%016x', n / 10000)",
    }
    values = ", ".join(changing.get(column, column) for column in columns)
    connection = sqlite3.connect(path)
    with connection:
        connection.execute(
            f"WITH RECURSIVE number(n) AS (SELECT 2 UNION ALL SELECT n + 1 FROM number WHERE n < {ATTEMPTS})"  # noqa: S608 - our own names
            f" INSERT INTO attempt ({', '.join(columns)}) SELECT {values} FROM number, attempt WHERE attempt.id = 1"
        )
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()


def _columns(path: Path) -> list[str]:
    connection = sqlite3.connect(path)
    names = [row[1] for row in connection.execute("PRAGMA table_info(attempt)")]
    connection.close()
    return names


def _result() -> Reconciliation:
    estimate = Estimate(
        model="model00.tflite", sha256="0" * 64, profile=Profile("2020-07", "arm32"), method="layout",
        arena_used_bytes=1100, head_bytes=100, tail_bytes=1000, min_working_arena_bytes=1200,
        recommended_arena_bytes=1200, board=BOARD,
    )  # fmt: skip
    tensor = TensorInfo("int8", (1, 1960), 1960)
    numbers: dict[str, Any] = {field.name: 1000 for field in dataclasses.fields(Measurement) if field.type == "int"}
    measurement = Measurement(
        **numbers, model="model00.tflite", sha256="0" * 64, board=BOARD, probe_id="p", unit="u", tflm="2020-07",
        build_id="0" * 16, emulated=True, inputs=(tensor,), outputs=(tensor,), output_data=(bytes(1960),),
        output_sha256="0" * 64, log=("a line of the log",) * 5, struct_sizes={"TfLiteTensor": 64},
    )  # fmt: skip
    return reconcile(estimate, measurement)
