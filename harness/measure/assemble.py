"""What the frames of one measurement amount to."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce

from harness.device.commands import Allocated
from harness.device.hello import Hello
from harness.device.talk import Device
from harness.domain.generations import canonical
from harness.domain.measurement import Extent, Measurement
from harness.domain.recipe import Subject
from harness.files.fields import Fields


@dataclass(frozen=True)
class Round:
    """What the device said of one round: each model has run on one paint.

    Attributes:
        invoked: the last Invoke of each model.
        scanned: the arena after all of them.
        outputs: the output tensors' bytes after the last Invoke, of all models but the last.
    """

    invoked: tuple[Fields, ...]
    scanned: Fields
    outputs: tuple[bytes, ...]


@dataclass(frozen=True)
class Findings:
    """What the device said; what comes in pairs was done once with each magic byte.

    Attributes:
        hello: who it is.
        allocated: AllocateTensors of each model, each pass after a reset.
        rounds: Invoke, in the life of the first AllocateTensors.
        fresh: the arena after the second AllocateTensors, before any Invoke.
        outputs: the output tensors' bytes after the last Invoke, of all models.
        sections: bytes per kind, recorded in a pass of its own; empty where that cannot be had.
        recording_failure: why TFLM, which can record, could not.
    """

    hello: Hello
    allocated: tuple[tuple[Allocated, ...], tuple[Allocated, ...]]
    rounds: tuple[Round, Round]
    fresh: Fields
    outputs: tuple[bytes, ...]
    sections: dict[str, int]
    recording_failure: str | None


def measurement(subject: Subject, findings: Findings, device: Device) -> Measurement:
    """Put together what the device said.

    Args:
        subject: what was measured.
        findings: what the device said to our questions.
        device: what it said besides.

    Raises:
        ProtocolError: a field is missing, or of another type.
    """
    models, scans = findings.allocated[0], [each.scanned for each in findings.rounds]
    size, head, tail = (models[-1].answer.count(key) for key in ("arena_bytes", "head_bytes", "tail_bytes"))
    scans_of_all = (*scans, findings.fresh)
    return Measurement(
        model=subject.model,
        sha256=subject.sha256,
        board=subject.board.id,
        probe_id=subject.probe_id,
        unit=findings.hello.unit,
        tflm=canonical(findings.hello.tflm),
        build_id=findings.hello.build_id,
        arena_size_bytes=size,
        arena_used_bytes=models[-1].answer.integer("used_bytes", least=1),
        head_bytes=head,
        tail_bytes=tail,
        painted_used_bytes=size - _common_gap(*scans),
        touched_by_allocation_bytes=_touched(findings.allocated, Extent(head, size - head - tail)),
        untouched_tail_bytes=min(scan.count("tail_untouched_bytes") for scan in scans_of_all),
        stack_used_bytes=max(scan.count("stack_used_bytes") for scan in scans_of_all),
        alloc_ticks=sum(model.answer.count("ticks") for model in models),
        invoke_ticks=sum(invoked.count("ticks") for invoked in findings.rounds[1].invoked),
        clock_hz=findings.hello.clock_hz,
        emulated=subject.board.emulated,
        inputs=tuple(tensor for model in models for tensor in model.inputs),
        outputs=tuple(tensor for model in models for tensor in model.outputs),
        output_data=findings.outputs,
        output_sha256=hashlib.sha256(b"".join(findings.outputs)).hexdigest(),
        log=device.transcript.log,
        overruns=next(filter(None, map(overruns, scans_of_all)), ()),
        sections=findings.sections,
        recording_failure=findings.recording_failure,
        struct_sizes=dict(findings.hello.struct_sizes),
        resets=device.transcript.unexpected_boots,
        kernels=subject.image.kernels,
    )


def overruns(scanned: Fields) -> tuple[str, ...]:
    """What was written where nothing may be written while a model runs, in words; none is good."""
    places = (
        ("the free middle", "written_bytes", "written_first", "the arena's offset"),
        ("the guard below the arena", "guard_low_written_bytes", "guard_low_first", "the guard's offset"),
        ("the guard above the arena", "guard_high_written_bytes", "guard_high_first", "the guard's offset"),
    )
    return tuple(
        f"{scanned.count(count):,} bytes written into {place}, the first at {origin} {scanned.count(at)}"
        for place, count, at, origin in places
        if scanned.count(count)
    )


def _common_gap(first: Fields, second: Fields) -> int:
    """The length of the run that stayed paint on both paints."""
    gaps = [Extent(scanned.count("gap_offset"), scanned.count("gap_bytes")) for scanned in (first, second)]
    return _overlap(gaps[0], gaps[1])


def _touched(allocated: Iterable[Sequence[Allocated]], free: Extent) -> int:
    """Bytes of the free middle that AllocateTensors wrote, of any model, as far as either paint shows."""
    untouched = [
        [Extent(*pair) for pair in model.answer.pairs("untouched")] for models in allocated for model in models
    ]
    return free.size_bytes - sum(run.size_bytes for run in reduce(_common, untouched, [free]))


def _common(first: Sequence[Extent], second: Sequence[Extent]) -> list[Extent]:
    """The runs that two lists of runs have in common."""
    pairs = ((a, b) for a in first for b in second if _overlap(a, b))
    return [Extent(max(a.offset, b.offset), _overlap(a, b)) for a, b in pairs]


def _overlap(a: Extent, b: Extent) -> int:
    return max(0, min(a.end, b.end) - max(a.offset, b.offset))
