"""Attempts with real estimates' and measurements' shapes, without a board."""

from harness.domain.attempt import Circumstances, Job
from harness.domain.estimate import Estimate, Profile, Section
from harness.domain.measurement import Measurement, TensorInfo
from harness.results.reconcile import reconcile

SHA = "ab" * 32
BOARD = "stm32f407-virtual"
KEY = Circumstances("virtual-1", "c0ffee", "2020-07", "crate 0.1.0", "ff" * 32, "reference", "gcc 12", "-Os", "0" * 16)


def job(number=1, model="kws.tflite", sha256=SHA, **changes):
    return Job(number, model, f"/models/{model}", sha256, BOARD, "crate", **changes)


def result(used=1000, estimated=1000, minimum=None, model="kws.tflite", sha256=SHA):
    estimate = Estimate(
        model=model, sha256=sha256, profile=Profile("2020-07", "arm32"), method="layout", arena_used_bytes=estimated,
        head_bytes=200, tail_bytes=estimated - 200, min_working_arena_bytes=estimated + 100,
        recommended_arena_bytes=estimated + 112, board=BOARD, corrections=("fit-1",),
        sections=(Section("tensors", "head", 200), Section("nodes", "tail", estimated - 200)),
    )  # fmt: skip
    measurement = Measurement(
        model=model, sha256=sha256, board=BOARD, probe_id="virtual-1", unit="c0ffee", tflm="2020-07", build_id="0" * 16,
        arena_size_bytes=4096, arena_used_bytes=used, head_bytes=200, tail_bytes=used - 200, painted_used_bytes=used,
        touched_by_allocation_bytes=0, untouched_tail_bytes=0, stack_used_bytes=300, alloc_ticks=1, invoke_ticks=2,
        clock_hz=168_000_000, emulated=True, inputs=(TensorInfo("int8", (1, 4), 4),),
        outputs=(TensorInfo("int8", (1,), 1),), output_data=(b"*",), output_sha256="cd" * 32, log=("hello",),
        min_working_arena_bytes=minimum,
    )  # fmt: skip
    return reconcile(estimate, measurement)
