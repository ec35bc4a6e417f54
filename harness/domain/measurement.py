"""What a device said about the arena of a model."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class TensorInfo:
    """An input or output tensor as the device knows it.

    Attributes:
        type: TFLite's name of the element type, lower case, such as `int8`.
        shape: dimensions.
        size_bytes: of its data.
    """

    type: str
    shape: tuple[int, ...]
    size_bytes: int


@dataclass(frozen=True)
class Extent:
    """A run of arena bytes, counted from the arena's first byte."""

    offset: int
    size_bytes: int

    @property
    def end(self) -> int:
        """The first offset behind the run."""
        return self.offset + self.size_bytes


@dataclass(frozen=True)
class Measurement:
    """One model measured on one unit.

    Attributes:
        model, sha256: file name and hash of the model, the hash as the device read it from its flash.
        board, probe_id, unit: the kind of board, its probe, and the chip's own unique id.
        tflm: the TFLM generation that ran.
        kernels: the kernel set that its firmware was built with.
        build_id: of the firmware that ran.
        arena_size_bytes: the arena that was given.
        arena_used_bytes: what the interpreter's own call reports.
        head_bytes, tail_bytes: its two parts.
        painted_used_bytes: size minus the gap that stayed painted through every Invoke, with both magic bytes.
        touched_by_allocation_bytes: bytes of the free middle that AllocateTensors itself wrote.
        untouched_tail_bytes: bytes of the tail that nothing ever wrote.
        min_working_arena_bytes: from bisection; None when it was not asked for.
        min_arena_failure: how the next smaller size failed.
        overruns: in words, what was written outside head and tail while the model ran; empty is good.
        stack_used_bytes: the stack's high-water mark.
        alloc_ticks, invoke_ticks: core clock cycles; no timing when `emulated`.
        clock_hz: the core clock that the ticks are of.
        sections: bytes per kind, as a RecordingMicroInterpreter counts them in an arena that ends at the same place
            modulo 16; empty where TFLM does not record, and for models that share an arena.
        recording_failure: why TFLM, which can record, could not; None when it did.
        inputs, outputs: tensors.
        output_data: the output tensors' bytes after the last Invoke, in order.
        output_sha256: hash over them.
        emulated: true on virtual boards.
        log: everything on the line that was no frame.
        struct_sizes: sizeof() of TFLM's structures on the device.
        resets: how often the device started anew while it was measured, beyond the starts that measuring asks for.
    """

    model: str
    sha256: str
    board: str
    probe_id: str
    unit: str
    tflm: str
    build_id: str
    arena_size_bytes: int
    arena_used_bytes: int
    head_bytes: int
    tail_bytes: int
    painted_used_bytes: int
    touched_by_allocation_bytes: int
    untouched_tail_bytes: int
    stack_used_bytes: int
    alloc_ticks: int
    invoke_ticks: int
    clock_hz: int
    emulated: bool
    inputs: tuple[TensorInfo, ...]
    outputs: tuple[TensorInfo, ...]
    output_data: tuple[bytes, ...] = field(repr=False)
    output_sha256: str
    log: tuple[str, ...] = ()
    min_working_arena_bytes: int | None = None
    min_arena_failure: str | None = None
    overruns: tuple[str, ...] = ()
    sections: dict[str, int] = field(default_factory=dict)
    recording_failure: str | None = None
    struct_sizes: dict[str, int] = field(default_factory=dict)
    resets: int = 0
    kernels: str = "reference"
