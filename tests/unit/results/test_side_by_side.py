"""Several TFLMs side by side."""

from __future__ import annotations

from dataclasses import replace

from harness.domain.attempt import DONE, Attempt, Job, JobResult
from harness.results.side_by_side import side_by_side, tflms, used_changes_bytes

OLD, NEW = "/trees/a/tflite-micro", "/trees/b/tflite-micro"
JOB = Job(1, "kws.tflite", "/kws.tflite", "ab" * 32, "stm32f407-virtual", OLD)


def ended(used: int | None, tflm: str, path: str = JOB.path, arena_size_bytes: int | None = None) -> JobResult:
    job = replace(JOB, tflm=tflm, path=path, arena_size_bytes=arena_size_bytes)
    attempt = Attempt(
        *(1, 1, job.number, 1, DONE, "", "", "", "", job.model, job.sha256, job.board, "a-unit"),
        verdict="device_error" if used is None else "ok",
        used_bytes=used,
    )
    return JobResult(job, attempt, 1, 0)


ROWS = [ended(1000, OLD), ended(1040, NEW), ended(3000, OLD, path="/p"), ended(None, NEW, path="/p")]


def test_changes_are_against_the_first_tflm_of_the_same_model():
    assert tflms(ROWS) == (OLD, NEW)
    assert used_changes_bytes(ROWS) == [0, 40, 0, None]


def test_one_line_for_each_model_and_columns_that_tell_the_trees_apart():
    first, second = side_by_side(ROWS)
    assert list(first)[:3] == ["model", "board", "a/tflite-micro: used"]
    assert (first["a/tflite-micro: used"], first["b/tflite-micro: used"]) == (1000, 1040)
    assert first["b/tflite-micro: change"] == 40
    assert (second["b/tflite-micro: used"], second["b/tflite-micro: change"]) == ("device_error", None)


def test_arenas_are_compared_each_with_its_own():
    rows = [ended(1000, OLD), ended(1100, OLD, arena_size_bytes=4096), ended(1180, NEW, arena_size_bytes=4096)]
    assert used_changes_bytes(rows) == [0, 0, 80]
    assert [line["arena"] for line in side_by_side(rows)] == [None, 4096]
