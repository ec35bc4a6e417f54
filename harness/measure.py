"""The measuring procedure: paint, AllocateTensors, paint again, Invoke, scan; each with two magic bytes.

A scan from the arena's end for the first byte that is no paint always answers "full", because the tail starts there.
And the planner uses the whole free middle as scratch, so that what AllocateTensors leaves painted says little. Hence
the middle, from head end to tail start, is painted a second time before Invoke. A byte that equals the paint by chance
shows on the other paint, so "untouched" means untouched on both. Invoke runs on each paint in the same life of the
interpreter, since its state may grow from run to run; AllocateTensors runs on each paint after a reset of its own.
"""

from __future__ import annotations

import hashlib
from contextlib import suppress
from dataclasses import dataclass

from harness.device import Device
from harness.device_faults import read_operator
from harness.domain.measurement import Extent, Measurement, TensorInfo
from harness.domain.postmortem import RunningOperator
from harness.domain.recipe import MAGIC_BYTES, Recipe, Subject
from harness.errors import DeadlineError, DeviceError, FlashError, ProtocolError, UsageError
from harness.fields import Fields
from harness.hello import Hello
from harness.input_data import feed, given_data
from harness.tflm_words import explain, tells_of_small_arena


@dataclass(frozen=True)
class _Findings:
    """What the device said; what comes in pairs was done once with each magic byte.

    Attributes:
        hello: who it is.
        allocated: AllocateTensors, each after a reset.
        invoked: the last Invoke.
        scanned: the arena after Invoke, in the life of the first AllocateTensors.
        fresh: the arena after the second AllocateTensors, before any Invoke.
        outputs: the output tensors' bytes after the last Invoke.
    """

    hello: Hello
    allocated: tuple[Fields, Fields]
    invoked: Fields
    scanned: tuple[Fields, Fields]
    fresh: Fields
    outputs: tuple[bytes, ...]


def measure(device: Device, subject: Subject, recipe: Recipe) -> Measurement:
    """Measure one model.

    Args:
        device: where it lies; it has just been started.
        subject: what is to be measured.
        recipe: how.

    Raises:
        FlashError: something else runs on the device than was flashed.
        DeviceError: the device said no.
        UsageError: the inputs or the arena do not fit.
    """
    hello = _await_hello(device, subject)
    arena_bytes = _arena_size(recipe, hello)
    allocated = _allocate(device, arena_bytes, MAGIC_BYTES[0])
    _, first_scan = _invoke_on_paint(device, hello, allocated, recipe, MAGIC_BYTES[0])
    invoked, second_scan = _invoke_on_paint(device, hello, allocated, recipe, MAGIC_BYTES[1])
    outputs = tuple(
        device.ask("output", "output", index=index).body.data("hex")
        for index in range(len(allocated.inners("outputs")))
    )
    check_hello(device.reboot(), subject)
    again = _allocate(device, arena_bytes, MAGIC_BYTES[1])
    fresh = device.ask("scan", "scanned").body
    findings = _Findings(hello, (allocated, again), invoked, (first_scan, second_scan), fresh, outputs)
    return _measurement(subject, findings, device.log)


def try_run(device: Device, hello: Hello, recipe: Recipe) -> tuple[str, ...]:
    """Run a model as often as the recipe says, without measuring.

    Args:
        device: where it lies; it has just been started.
        hello: what the device said when it started.
        recipe: how.

    Returns:
        Overruns, in words; none is good.

    Raises:
        DeviceError: it does not run.
        DeadlineError: it hangs.
    """
    allocated = _allocate(device, _arena_size(recipe, hello), MAGIC_BYTES[0])
    _invoke(device, hello, allocated, recipe)
    return _overruns(device.ask("scan", "scanned").body)


def find_culprit(device: Device, hello: Hello, recipe: Recipe) -> RunningOperator | None:
    """The first operator that writes where nothing may be written; None when none does, or TFLM itself does.

    Args:
        device: where the model lies; it has just been started.
        hello: what the device said when it started.
        recipe: how to run it.

    Raises:
        HarnessError: it does not run any more.
    """
    allocated = _allocate(device, _arena_size(recipe, hello), MAGIC_BYTES[0])
    return read_operator(_invoke(device, hello, allocated, recipe, watch=True))


def _await_hello(device: Device, subject: Subject) -> Hello:
    """The hello of the firmware that was flashed; one of another build may be a late word of what ran before."""
    hello = device.await_boot()
    if hello.build_id != subject.image.build_id:
        with suppress(DeadlineError, ProtocolError):
            hello = device.await_boot()
    return check_hello(hello, subject)


def check_hello(hello: Hello, subject: Subject) -> Hello:
    """Make sure that what runs is what was flashed.

    Raises:
        FlashError: another firmware, a damaged one, or another model.
    """
    image = subject.image
    for what, measured, expected in (
        ("firmware build", hello.build_id, image.build_id),
        ("CRC-32 of the firmware", f"{hello.image_crc32:08x}", f"{image.crc32:08x}"),
        ("model region", hello.model.state, "ok"),
        ("SHA-256 of the model", hello.model.sha256, subject.sha256),
    ):
        if measured != expected:
            raise FlashError(
                f"the device runs something else than was flashed: {what}",
                where=f"{subject.board.id} {hello.unit}",
                measured=measured,
                expected=expected,
                hint="flash it anew: --force-flash",
            )
    return hello


def _invoke_on_paint(
    device: Device, hello: Hello, allocated: Fields, recipe: Recipe, magic_byte: int
) -> tuple[Fields, Fields]:
    """Paint the middle, run the model on it, and scan; the last Invoke and the scan."""
    device.ask("repaint", "ok", paint=magic_byte)
    invoked = _invoke(device, hello, allocated, recipe)
    return invoked, device.ask("scan", "scanned").body


def _arena_size(recipe: Recipe, hello: Hello) -> int:
    size = recipe.arena_size_bytes or hello.arena_max_bytes
    if size > hello.arena_max_bytes:
        raise UsageError(
            "the arena is larger than the RAM that the firmware leaves",
            measured=f"{size:,} bytes",
            expected=f"at most {hello.arena_max_bytes:,}",
            hint="choose a smaller --arena-size",
        )
    return size


def _allocate(device: Device, arena_bytes: int, magic_byte: int) -> Fields:
    log_before = len(device.log)
    allocated = device.ask("allocate", "allocated", works=True, arena_bytes=arena_bytes, paint=magic_byte).body
    if not allocated.truth("paint_ok"):
        raise DeviceError("the paint did not take: the RAM does not hold what is written to it")
    said = device.log[log_before:]
    if allocated.text("status") != "ok" or tells_of_small_arena(said):
        raise explain(said, "AllocateTensors")
    return allocated


def _invoke(device: Device, hello: Hello, allocated: Fields, recipe: Recipe, *, watch: bool = False) -> Fields:
    """Feed the inputs, which share their memory with later tensors, before each Invoke; return the last answer."""
    tensors = _tensors(allocated, "inputs")
    data = given_data(tensors, recipe.inputs, recipe.random_seed)
    for _ in range(recipe.invokes):
        feed(device, hello.line_bytes, tensors, data)
        log_before = len(device.log)
        invoked = device.ask("invoke", "invoked", works=True, watch=int(watch)).body
        if invoked.text("status") != "ok":
            raise explain(device.log[log_before:], "Invoke")
    return invoked


def _measurement(subject: Subject, findings: _Findings, log: tuple[str, ...]) -> Measurement:
    allocated, scans = findings.allocated[0], (*findings.scanned, findings.fresh)
    size, head, tail = (allocated.count(key) for key in ("arena_bytes", "head_bytes", "tail_bytes"))
    return Measurement(
        model=subject.model,
        sha256=subject.sha256,
        board=subject.board.id,
        probe_id=subject.probe_id,
        unit=findings.hello.unit,
        tflm=findings.hello.tflm,
        build_id=findings.hello.build_id,
        arena_size_bytes=size,
        arena_used_bytes=allocated.integer("used_bytes", least=1),
        head_bytes=head,
        tail_bytes=tail,
        painted_used_bytes=size - _common_gap(*findings.scanned),
        touched_by_allocation_bytes=_touched(findings.allocated, Extent(head, size - head - tail)),
        untouched_tail_bytes=min(scan.count("tail_untouched_bytes") for scan in scans),
        stack_used_bytes=max(scan.count("stack_used_bytes") for scan in scans),
        alloc_ticks=allocated.count("ticks"),
        invoke_ticks=findings.invoked.count("ticks"),
        clock_hz=findings.hello.clock_hz,
        emulated=subject.board.emulated,
        inputs=_tensors(allocated, "inputs"),
        outputs=_tensors(allocated, "outputs"),
        output_data=findings.outputs,
        output_sha256=hashlib.sha256(b"".join(findings.outputs)).hexdigest(),
        log=log,
        overruns=next(filter(None, map(_overruns, scans)), ()),
        struct_sizes=dict(findings.hello.struct_sizes),
    )


def _tensors(allocated: Fields, key: str) -> tuple[TensorInfo, ...]:
    return tuple(
        TensorInfo(tensor.text("type"), tensor.integers("shape"), tensor.count("size_bytes"))
        for tensor in allocated.inners(key)
    )


def _common_gap(first: Fields, second: Fields) -> int:
    """The length of the run that stayed paint on both paints."""
    gaps = [Extent(scanned.count("gap_offset"), scanned.count("gap_bytes")) for scanned in (first, second)]
    return _overlap(gaps[0], gaps[1])


def _touched(allocated: tuple[Fields, Fields], free: Extent) -> int:
    """Bytes of the free middle that AllocateTensors wrote, as far as either paint shows."""
    first, second = ([Extent(*pair) for pair in one.pairs("untouched")] for one in allocated)
    common = (Extent(max(a.offset, b.offset), _overlap(a, b)) for a in first for b in second)
    return free.size_bytes - sum(_overlap(run, free) for run in common)


def _overlap(a: Extent, b: Extent) -> int:
    return max(0, min(a.end, b.end) - max(a.offset, b.offset))


def _overruns(scanned: Fields) -> tuple[str, ...]:
    """What was written where nothing may be written while a model runs."""
    places = (
        ("the free middle", "written_bytes", "written_first", "the arena's offset"),
        ("the guard below the arena", "guard_low_written_bytes", "guard_low_first", "the guard's offset"),
        ("the guard above the arena", "guard_high_written_bytes", "guard_high_first", "the guard's offset"),
    )
    return tuple(
        f"{scanned.count(count)} bytes written into {place}, the first at {origin} {scanned.count(at)}"
        for place, count, at, origin in places
        if scanned.count(count)
    )
