"""An estimate, and a measurement that confirms it."""

from harness.domain.estimate import Estimate, Profile, Section
from harness.domain.measurement import Measurement

ESTIMATE = Estimate(
    model="m.tflite",
    sha256="ab",
    profile=Profile("2020-07", "arm32"),
    method="layout",
    arena_used_bytes=1000,
    head_bytes=200,
    tail_bytes=800,
    min_working_arena_bytes=1200,
    recommended_arena_bytes=1200,
    sections=(Section("op_data", "tail", 800), Section("plan", "head", 200)),
    recorded_sections=(Section("op_data", "tail", 812),),
    board="b",
)
MEASUREMENT = Measurement(
    model="m.tflite",
    sha256="ab",
    board="b",
    probe_id="p",
    unit="u",
    tflm="2020-07",
    build_id="id1",
    arena_size_bytes=4096,
    arena_used_bytes=1000,
    head_bytes=200,
    tail_bytes=800,
    painted_used_bytes=1000,
    touched_by_allocation_bytes=0,
    untouched_tail_bytes=0,
    stack_used_bytes=1,
    alloc_ticks=1,
    invoke_ticks=1,
    clock_hz=1,
    emulated=True,
    inputs=(),
    outputs=(),
    output_data=(),
    output_sha256="",
)
