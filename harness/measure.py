"""The measuring procedure: paint, AllocateTensors, paint again, Invoke, scan; then all of it with another magic byte.

A scan from the arena's end for the first byte that is no paint always answers "full", because the tail starts there.
And the planner uses the whole free middle as scratch, so that what AllocateTensors leaves painted says little. Hence
the middle, from head end to tail start, is painted a second time before Invoke. Bytes that equal the paint by chance
differ in one of the two passes, so "untouched" means untouched in both.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from harness.device import Device, Hello
from harness.domain.board import Board
from harness.domain.firmware import FirmwareImage
from harness.domain.measurement import Extent, Measurement, TensorInfo
from harness.errors import DeviceError, FlashError, UsageError
from harness.fields import Fields
from harness.tflm_words import explain

MAGIC_BYTES = (0xAA, 0x55)

# What an input command needs besides its hex digits.
_INPUT_COMMAND_BYTES = 128


@dataclass(frozen=True)
class Recipe:
    """What to do with the model.

    Attributes:
        arena_size_bytes: the arena to give it; None for the largest that fits.
        inputs: the input tensors' bytes, in order; none for the firmware's own pattern.
        invokes: how often to run it in each pass; at least twice, since state may grow.
    """

    arena_size_bytes: int | None = None
    inputs: tuple[bytes, ...] = ()
    invokes: int = 2


@dataclass(frozen=True)
class Subject:
    """What is to be measured: a model that lies in the flash of a running device.

    Attributes:
        model: file name.
        sha256: of the model file, in hex.
        board: what it runs on.
        probe_id: the probe of the unit.
        image: the firmware that must be running.
    """

    model: str
    sha256: str
    board: Board
    probe_id: str
    image: FirmwareImage


@dataclass(frozen=True)
class _Pass:
    """What the device said in one pass with one magic byte."""

    hello: Hello
    allocated: Fields
    invoked: Fields
    scanned: Fields
    outputs: tuple[bytes, ...]


def measure(device: Device, subject: Subject, recipe: Recipe) -> Measurement:
    """Measure one model, once with each magic byte.

    Args:
        device: where it lies; it has just been started.
        subject: what is to be measured.
        recipe: how.

    Raises:
        FlashError: something else runs on the device than was flashed.
        DeviceError: the device said no.
        UsageError: the inputs or the arena do not fit.
    """
    first = _measure_once(device, check_hello(device.await_boot(), subject), recipe, MAGIC_BYTES[0])
    second = _measure_once(device, check_hello(device.reboot(), subject), recipe, MAGIC_BYTES[1])
    return _combine(subject, (first, second), device.log)


def try_run(device: Device, subject: Subject, recipe: Recipe) -> tuple[str, ...]:
    """Reset the device and run a model as often as the recipe says, without measuring.

    Returns:
        Overruns, in words; none is good.

    Raises:
        DeviceError: it does not run.
    """
    hello = check_hello(device.reboot(), subject)
    allocated = _allocate(device, _arena_size(recipe, hello), MAGIC_BYTES[0])
    _invoke(device, hello, allocated, recipe)
    return _overruns(device.ask("scan", "scanned").body)


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


def _measure_once(device: Device, hello: Hello, recipe: Recipe, magic_byte: int) -> _Pass:
    allocated = _allocate(device, _arena_size(recipe, hello), magic_byte)
    invoked = _invoke(device, hello, allocated, recipe)
    scanned = device.ask("scan", "scanned").body
    outputs = tuple(
        device.ask("output", "output", index=index).body.data("hex")
        for index in range(len(allocated.inners("outputs")))
    )
    return _Pass(hello, allocated, invoked, scanned, outputs)


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
    if allocated.text("status") != "ok":
        raise explain(device.log[log_before:], "AllocateTensors")
    return allocated


def _invoke(device: Device, hello: Hello, allocated: Fields, recipe: Recipe) -> Fields:
    """Feed the inputs, which share their memory with later tensors, before each Invoke; return the last answer."""
    for _ in range(recipe.invokes):
        _feed(device, hello, _tensors(allocated, "inputs"), recipe.inputs)
        log_before = len(device.log)
        invoked = device.ask("invoke", "invoked", works=True).body
        if invoked.text("status") != "ok":
            raise explain(device.log[log_before:], "Invoke")
    return invoked


def _feed(device: Device, hello: Hello, tensors: Sequence[TensorInfo], inputs: Sequence[bytes]) -> None:
    if not inputs:
        for index in range(len(tensors)):
            device.ask("fill", "ok", index=index)
        return
    _check_inputs(tensors, inputs)
    piece_bytes = (hello.line_bytes - _INPUT_COMMAND_BYTES) // 2
    for index, data in enumerate(inputs):
        for offset in range(0, len(data), piece_bytes):
            piece = data[offset : offset + piece_bytes]
            device.ask("input", "ok", index=index, offset=offset, hex=piece.hex())


def _check_inputs(tensors: Sequence[TensorInfo], inputs: Sequence[bytes]) -> None:
    sizes = [tensor.size_bytes for tensor in tensors]
    if [len(data) for data in inputs] != sizes:
        raise UsageError(
            "the input files do not fit the model's input tensors",
            measured=f"{[len(data) for data in inputs]} bytes",
            expected=f"{sizes} bytes",
            hint="--input takes raw tensor bytes, one file per input, in the model's order",
        )


def _combine(subject: Subject, passes: tuple[_Pass, _Pass], log: tuple[str, ...]) -> Measurement:
    first, second = passes
    allocated, scanned = first.allocated, first.scanned
    size, head, tail = (allocated.count(key) for key in ("arena_bytes", "head_bytes", "tail_bytes"))
    return Measurement(
        model=subject.model,
        sha256=subject.sha256,
        board=subject.board.id,
        probe_id=subject.probe_id,
        unit=first.hello.unit,
        tflm=first.hello.tflm,
        build_id=first.hello.build_id,
        arena_size_bytes=size,
        arena_used_bytes=allocated.count("used_bytes"),
        head_bytes=head,
        tail_bytes=tail,
        painted_used_bytes=size - _common_gap(scanned, second.scanned),
        touched_by_allocation_bytes=size - head - tail - _untouched(passes, Extent(head, size - head - tail)),
        untouched_tail_bytes=min(one.scanned.count("tail_untouched_bytes") for one in passes),
        stack_used_bytes=max(one.scanned.count("stack_used_bytes") for one in passes),
        alloc_ticks=allocated.count("ticks"),
        invoke_ticks=first.invoked.count("ticks"),
        clock_hz=first.hello.clock_hz,
        emulated=subject.board.emulated,
        inputs=_tensors(allocated, "inputs"),
        outputs=_tensors(allocated, "outputs"),
        output_data=first.outputs,
        output_sha256=hashlib.sha256(b"".join(first.outputs)).hexdigest(),
        log=log,
        overruns=_overruns(scanned) or _overruns(second.scanned),
        struct_sizes=dict(first.hello.struct_sizes),
    )


def _tensors(allocated: Fields, key: str) -> tuple[TensorInfo, ...]:
    return tuple(
        TensorInfo(tensor.text("type"), tensor.integers("shape"), tensor.count("size_bytes"))
        for tensor in allocated.inners(key)
    )


def _common_gap(first: Fields, second: Fields) -> int:
    """The length of the run that stayed paint in both passes."""
    gaps = [Extent(scanned.count("gap_offset"), scanned.count("gap_bytes")) for scanned in (first, second)]
    return _overlap(gaps[0], gaps[1])


def _untouched(passes: Iterable[_Pass], free: Extent) -> int:
    """Bytes of the free middle that AllocateTensors left painted in both passes."""
    first, second = ([Extent(offset, size) for offset, size in one.allocated.pairs("untouched")] for one in passes)
    common = (Extent(max(a.offset, b.offset), _overlap(a, b)) for a in first for b in second if _overlap(a, b))
    return sum(_overlap(run, free) for run in common)


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
