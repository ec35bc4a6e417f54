"""The host method: let the official TFLM wheel allocate the model on this machine, and read off what it took.

The wheel (`tflite-micro` on PyPI, the extra `oracle`) is TFLM built for x86-64 with RecordingMicroAllocator and with
support for compressed tensors. It runs in a child process with a deadline: see `oracle_child`.
"""

from __future__ import annotations

import json
import math
import re
import signal
import subprocess
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from typing import Final

from harness.domain.estimate import Estimate, Profile, Section
from harness.domain.generations import DEFAULT
from harness.errors import ArenaTooSmallError, DeadlineError, ModelError, PluginError, UsageError
from harness.estimate.layout.arena import ALIGNMENT, align_up
from harness.estimate.reading.foreign import foreign_advice
from harness.estimate.reading.model_file import ModelFile
from harness.estimate.shapes.open_dimensions import load_graph
from harness.files.fields import Fields

HOST_PROFILE: Final = Profile(DEFAULT, "x86-64")
WHEEL_VERSION: Final = "0.dev20261023182759"
"""The wheel that the x86-64 layout was measured with."""

DEADLINE_S: Final = 120.0
MAX_ARENA_BYTES: Final = 256 * 1024 * 1024
EXIT_REFUSED: Final = 10
"""With which the child process says that TFLM did not allocate the tensors."""

RECORDED_KINDS: Final = {
    "TfLiteEvalTensor data": "eval_tensors",
    "Persistent TfLiteTensor data": "persistent_tensors",
    "Persistent TfLiteTensor quantization data": "persistent_quantization",
    "Persistent buffer data": "persistent_buffers",
    "TfLiteTensor variable buffer data": "variables",
    "NodeAndRegistration struct": "node_and_registration",
}
"""What RecordingMicroAllocator::PrintAllocations calls the kinds that it records, and our names for them."""

_PART = re.compile(r"Arena allocation (total|head|tail) (\d+) bytes")
_KIND = re.compile(r"'([^']+)' used (\d+) bytes")


def host_estimate(
    model: ModelFile,
    *,
    arena_size_bytes: int | None = None,
    margin_percent: float = 0.0,
    board: str | None = None,
    deadline_s: float = DEADLINE_S,
) -> Estimate:
    """Measure the arena of a model on this machine.

    Args:
        model: the file; it must have been parsed before, since the wheel does not check what it reads.
        arena_size_bytes: the arena to allocate it in; one that grows until it fits when not given.
        margin_percent: added to the smallest working arena for the recommendation.
        board: the board it is for, if any: only for the record, the figures are of an x86-64 TFLM all the same.
        deadline_s: seconds after which the child process is killed.

    Raises:
        PluginError: the wheel is not installed.
        ModelError: TFLM refuses the model, or crashes on it.
        ArenaTooSmallError: the model does not fit in the arena asked for.
        DeadlineError: the child process did not end in time.
        UsageError: a senseless size.
    """
    if arena_size_bytes is not None and not 0 < arena_size_bytes <= MAX_ARENA_BYTES:
        raise UsageError("the arena has no such size on the host", measured=arena_size_bytes, expected=_SIZES)
    lines = _allocate(model, arena_size_bytes or 0, deadline_s)
    allocated = lines[0]
    minimum = lines[1].integer("min_working_arena_bytes") if len(lines) > 1 else None
    log = allocated.text("log")
    parts = {name: int(size) for name, size in _PART.findall(log)}
    kinds = {RECORDED_KINDS[name]: int(size) for name, size in _KIND.findall(log) if name in RECORDED_KINDS}
    return Estimate(
        model=model.name,
        sha256=model.sha256,
        profile=HOST_PROFILE,
        method="host",
        arena_used_bytes=parts["total"],
        head_bytes=parts["head"],
        tail_bytes=parts["tail"],
        min_working_arena_bytes=minimum,
        recommended_arena_bytes=align_up(
            math.ceil((minimum or parts["total"]) * (1 + margin_percent / 100)), ALIGNMENT
        ),
        sections=_sections(parts, kinds),
        recorded_sections=tuple(Section(name, "tail", size) for name, size in kinds.items()),
        warnings=tuple(_warnings(allocated.text("version"), minimum)),
        board=board,
    )


_SIZES: Final = f"1 to {MAX_ARENA_BYTES:,} bytes"


def _allocate(model: ModelFile, arena_size_bytes: int, deadline_s: float) -> list[Fields]:
    """Run the child process; returns the lines that it wrote, at least one."""
    if find_spec("tflite_micro") is None:
        raise PluginError(
            "the host method needs the official TFLM wheel, which is not installed",
            hint="pip install 'harness[oracle]'",
        )
    command = [sys.executable, "-P", "-m", "harness.estimate.host.oracle_child", str(arena_size_bytes)]
    try:
        done = subprocess.run(command, input=model.data, capture_output=True, timeout=deadline_s, check=False)
    except subprocess.TimeoutExpired:
        raise DeadlineError(
            "TFLM on the host did not come to an end", where=model.name, expected=f"within {deadline_s:g} s"
        ) from None
    lines = [Fields(model.name, json.loads(line), ModelError) for line in done.stdout.splitlines()]
    if lines:
        return lines
    raise host_failure(model, arena_size_bytes, done.returncode, done.stderr.decode(errors="replace"))


def host_failure(model: ModelFile, arena_size_bytes: int, status: int, said: str) -> ModelError | ArenaTooSmallError:
    """The error that the end of a child process amounts to.

    Args:
        model: what it ran.
        arena_size_bytes: the arena asked for; 0 for one that is large enough.
        status: its exit status, negative for a signal.
        said: what it wrote on stderr.
    """
    reasons = [line.strip() for line in said.splitlines() if line.strip()]
    if status < 0:
        return ModelError(f"TFLM on the host crashed on it ({signal.Signals(-status).name})", where=model.name)
    shortages = [reason for reason in reasons if "available" in reason]
    if status == EXIT_REFUSED and arena_size_bytes and shortages:
        words, size = f"TFLM on the host ran out of arena: {shortages[0]}", f"{arena_size_bytes:,} bytes"
        return ArenaTooSmallError(words, where=model.name, measured=size)
    why = reasons[0] if reasons else "no reason given"  # the first says what failed, those after it only where
    then = f" ({reasons[1]})" if len(reasons) > 1 else ""
    hint = foreign_advice(load_graph(model))
    return ModelError(f"TFLM on the host refuses it: {why}{then}", where=model.name, hint=hint)


def _sections(parts: Mapping[str, int], kinds: Mapping[str, int]) -> tuple[Section, ...]:
    """What was recorded, and a rest, so that they add up to the total."""
    return (
        Section("planned_tensors_and_scratch", "head", parts["head"]),
        *(Section(name, "tail", size) for name, size in kinds.items()),
        Section("not_recorded", "tail", parts["tail"] - sum(kinds.values())),
    )


def _warnings(version: str, minimum: int | None) -> list[str]:
    warnings = []
    if version != WHEEL_VERSION:
        warnings.append(f"measured with tflite-micro {version}; the x86-64 layout is that of {WHEEL_VERSION}")
    if minimum is None:
        warnings.append("TFLM on the host crashed while the smallest arena was searched")
    return warnings
