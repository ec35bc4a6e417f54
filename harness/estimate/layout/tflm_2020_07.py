"""TFLM 2020-07 (TensorFlow 33689c48), reference kernels: what AllocateTensors takes of the arena, in order.

Sources: micro_allocator.cc, simple_memory_allocator.cc, core/api/flatbuffer_conversions.cc and kernels/*.cc of
tensorflow/lite/micro; sizes measured by compiling them. One subgraph only; offline plans are not known to it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from harness.domain.graph import Graph, Operator, Tensor, operator_place, tensor_place
from harness.estimate.layout.arena import ALIGNMENT, Allocate, Event, Head, PlannerRoom, align_up
from harness.estimate.layout.generation import Generation, Layout, Owner, Target
from harness.estimate.layout.rules import (
    Node,
    OpRule,
    Persistent,
    Scratch,
    int_array_bytes,
    is_int8,
    persistent,
    rule,
    scratch,
)
from harness.estimate.planning import Buffer
from harness.estimate.planning.greedy import greedy_first_wins
from harness.estimate.planning.lifetimes import UNSET, by_operator

STRUCT_SIZES: Final = {
    "TfLiteType": (4, 4),
    "SimpleMemoryAllocator": (20, 40),
    "TfLiteTensor": (64, 112),
    "TfLiteAffineQuantization": (12, 24),
    "NodeAndRegistration": (40, 80),
    "ScratchBufferHandle": (12, 24),
    "AllocationInfo": (20, 32),
    "PlannerBuffer": (36, 36),
}
"""sizeof() of TFLM's structures with 4-byte and 8-byte pointers; the same with and without TF_LITE_STATIC_MEMORY.

`TfLiteType` stands for all enumerations: with -fshort-enums they are smaller, and so is what operators keep.

`PlannerBuffer` is what GreedyMemoryPlanner keeps of its room per buffer: requirements, two sorted arrays, list, offset.
"""

_CONV_CHANNELS: Final = persistent(lambda node: 4 * node.dim(1, 0))
_DEPTHWISE_CHANNELS: Final = persistent(lambda node: 4 * node.dim(1, 3))


def _svdf_state(node: Node) -> int:
    return 4 * node.dim(0, 0) * node.dim(1, 0)


def _svdf_output(node: Node) -> int:
    return _svdf_state(node) // max(node.operator.option("rank"), 1)


_PLAIN: Final = """
    LOGISTIC ABS SIN COS LOG SQRT RSQRT SQUARE PRELU FLOOR MAXIMUM MINIMUM LOGICAL_OR LOGICAL_AND LOGICAL_NOT EQUAL
    NOT_EQUAL GREATER GREATER_EQUAL LESS LESS_EQUAL CEIL ROUND PAD PADV2 NEG RELU RELU6 TANH CIRCULAR_BUFFER
    """.split()  # noqa: SIM905 - a list of names reads better without quotes

OPERATORS: Final = {
    **dict.fromkeys(_PLAIN, OpRule()),
    "CONV_2D": rule(24, (40, 48), _CONV_CHANNELS, _CONV_CHANNELS),
    "DEPTHWISE_CONV_2D": rule(28, (40, 48), _DEPTHWISE_CHANNELS, _DEPTHWISE_CHANNELS),
    "FULLY_CONNECTED": rule(12, 20),
    "SVDF": rule(12, 24, scratch(_svdf_state), scratch(_svdf_output, is_int8)),
    "QUANTIZE": rule(0, 8),
    "DEQUANTIZE": rule(0, 8),
    **dict.fromkeys(("AVERAGE_POOL_2D", "MAX_POOL_2D"), rule(40, 0)),
    "RESHAPE": rule(36, 0),
    "STRIDED_SLICE": rule(20, 0),
    **dict.fromkeys(("CONCATENATION", "PACK", "UNPACK"), rule(8, 0)),
    **dict.fromkeys(("ADD", "MUL", "SUB", "SOFTMAX", "SPLIT", "L2_NORMALIZATION", "ARG_MAX", "ARG_MIN"), rule(4, 0)),
    "RESIZE_NEAREST_NEIGHBOR": rule(2, 0, align=1),
    "MEAN": rule(1, 0, align=1),
}
"""What each operator takes. These are all that AllOpsResolver registers, and the custom operator CIRCULAR_BUFFER."""

_SIZED_TYPES: Final = frozenset({"float32", "int16", "int32", "uint8", "int8", "int64", "bool", "complex64"})
"""Element types whose size this TFLM knows (TfLiteTypeSizeOf in memory_helpers.cc)."""


def lay_out(graph: Graph, target: Target) -> Layout:
    """Follow the allocator's constructor and AllocateTensors."""
    sizes, pointer = target.sizes, target.pointer_bytes
    operators, tensors = graph.main.operators, graph.main.tensors
    requests = [(o, step.size_bytes) for o, step in _prepared(graph, pointer) if step.section == _HANDLES]
    owned = [*_planned_tensors(graph), *_planned_scratch(graph, requests)]
    buffers = tuple(buffer for _, buffer in owned)
    plan = greedy_first_wins(buffers)
    trace: list[Event] = [
        Allocate("allocator", sizes["SimpleMemoryAllocator"], pointer),
        Allocate("tensors", sizes["TfLiteTensor"] * len(tensors), pointer),
        *(event for tensor in tensors for event in _quantization(tensor, target)),
        Allocate("node_and_registration", sizes["NodeAndRegistration"] * len(operators), pointer),
        *_initialised(graph, pointer),
        *(_as_allocated(event, target) for _, event in _prepared(graph, pointer)),
        PlannerRoom(
            front_bytes=0,
            back_bytes=sizes["AllocationInfo"] * (len(tensors) + len(requests)),
            align=pointer,
            size_bytes=sizes["PlannerBuffer"] * len(buffers),
        ),
        Head(plan.arena_bytes),
        *(Allocate("variables", tensor.size_bytes, ALIGNMENT) for tensor in tensors if tensor.is_variable),
    ]
    return Layout(tuple(trace), buffers, tuple(owner for owner, _ in owned), plan)


_HANDLES: Final = "scratch_buffer_handles"


def _rule(operator: Operator) -> OpRule:
    return OPERATORS.get(operator.name, OpRule())


def _quantization(tensor: Tensor, target: Target) -> Iterator[Allocate]:
    if channels := tensor.quantization_channels:
        yield Allocate("quantization", target.sizes["TfLiteAffineQuantization"], target.pointer_bytes)
        yield Allocate("quantization", int_array_bytes(channels), 4)
        yield Allocate("quantization", int_array_bytes(channels), 4)


def _initialised(graph: Graph, pointer: int) -> Iterator[Allocate]:
    """Builtin data of every operator, then the user data of every Init."""
    wide = pointer == 8
    for operator in graph.main.operators:
        if size_bytes := _rule(operator).builtin_data[wide]:
            yield Allocate("builtin_data", size_bytes, _rule(operator).builtin_align[wide])
    for operator in graph.main.operators:
        if size_bytes := _rule(operator).user_data[wide]:
            yield Allocate("persistent_buffers", size_bytes, ALIGNMENT)


def _prepared(graph: Graph, pointer: int) -> Iterator[tuple[Operator, Allocate]]:
    """What every Prepare asks for. A scratch request stands under its handle's section, with the bytes wanted."""
    for operator in graph.main.operators:
        node = Node(graph.main, operator, pointer)
        for step in _rule(operator).prepare:
            match step:
                case Persistent(size):
                    section = "persistent_buffers"
                case Scratch(size):
                    section = _HANDLES
                case _:
                    continue
            if (size_bytes := size(node)) is not None:
                yield operator, Allocate(section, size_bytes, ALIGNMENT)


def _as_allocated(event: Allocate, target: Target) -> Allocate:
    """A scratch request takes only its handle from the tail."""
    if event.section != _HANDLES:
        return event
    return Allocate(_HANDLES, target.sizes["ScratchBufferHandle"], target.pointer_bytes)


def _planned_tensors(graph: Graph) -> list[tuple[Owner, Buffer]]:
    lifetimes = by_operator(graph.main).tensors
    planned = []
    for tensor in graph.main.tensors:
        first, last = lifetimes[graph.main.index, tensor.index]
        only_read = first == UNSET and last != UNSET
        if not (tensor.is_constant or tensor.is_variable or only_read):
            buffer = Buffer(align_up(tensor.size_bytes, ALIGNMENT), first, last)
            planned.append((Owner(graph.main, tensor), buffer))
    return planned


def _planned_scratch(graph: Graph, requests: list[tuple[Operator, int]]) -> list[tuple[Owner, Buffer]]:
    """The handles grow downward, so that the planner meets the last request first."""
    return [
        (
            Owner(graph.main, operator),
            Buffer(align_up(size_bytes, ALIGNMENT), operator.index, operator.index),
        )
        for operator, size_bytes in reversed(requests)
    ]


def _unknown_operators(graph: Graph) -> tuple[str, ...]:
    return tuple(
        operator_place(subgraph, operator)
        for subgraph, operator in graph.operators()
        if operator.name not in OPERATORS or operator.is_custom != (operator.name == "CIRCULAR_BUFFER")
    )


def _warnings(graph: Graph, _kernels: str) -> tuple[str, ...]:
    if graph.offline_plan is None:
        return ()
    return ("TFLM 2020-07 ignores the model's offline memory plan",)


def _refusals(graph: Graph) -> tuple[str, ...]:
    """Why this TFLM would refuse the model, or read outside its memory."""
    main = graph.main
    reasons: list[str] = []
    if len(graph.subgraphs) != 1:
        reasons.append(f"TFLM 2020-07 runs models of one subgraph only, not of {len(graph.subgraphs)}")
    reasons += ["the model has no inputs"] if not main.inputs else []
    reasons += ["the model has no outputs"] if not main.outputs else []
    for operator in main.operators:
        reasons += (f"{operator_place(main, operator)} {reason}" for reason in _operator_refusals(graph, operator))
    lifetimes = by_operator(main).tensors
    for tensor in main.tensors:
        reason = _tensor_refusal(tensor, lifetimes[main.index, tensor.index])
        reasons += [f"{tensor_place(main, tensor)} {reason}"] if reason else []
    return (*reasons, *_scattered_requests(graph))


def _operator_refusals(graph: Graph, operator: Operator) -> Iterator[str]:
    if -1 in operator.inputs or -1 in operator.outputs:
        yield "has an absent optional tensor (-1), for which TFLM 2020-07 reads outside its tensor array"
    if not operator.has_lists:
        yield "lacks its list of inputs or outputs, which TFLM 2020-07 reads unchecked"
    if operator.byte_code != operator.code:
        yield "has its code only in the newer field, which TFLM 2020-07 does not read"
    if operator.has_custom_options and not operator.is_custom:
        yield "is a builtin operator with custom options, which TFLM 2020-07 refuses"
    outputs = (graph.main.tensors[index] for index in operator.outputs if index >= 0)
    if any(tensor.shape_inferred for tensor in outputs):
        yield "leaves a dimension (-1) open, which TFLM 2020-07 writes into the model: in flash that faults"


def _tensor_refusal(tensor: Tensor, lifetime: tuple[int, int]) -> str:
    first, last = lifetime
    if tensor.type not in _SIZED_TYPES:
        return f"is of type {tensor.type}, whose size TFLM 2020-07 does not know"
    if tensor.is_constant or tensor.is_variable:
        return ""
    if first == UNSET and last != UNSET:
        return "is read but never written, and TFLM 2020-07 gives it no memory" if tensor.size_bytes else ""
    if UNSET in (first, last):
        return "is never read or never written, which TFLM 2020-07's planner refuses as an invalid lifetime"
    return ""


def _scattered_requests(graph: Graph) -> Iterator[str]:
    """Scratch handles must lie side by side in the tail: between two requests nothing else may be allocated."""
    requested = interrupted = False
    for operator, event in _prepared(graph, pointer=4):
        if event.section != _HANDLES:
            interrupted = requested
        elif interrupted:
            place = operator_place(graph.main, operator)
            yield f"{place} asks for scratch after persistent memory was taken in between, on which TFLM 2020-07 fails"
            return
        else:
            requested = True


GENERATION: Final = Generation(
    id="2020-07",
    kernels=("reference",),
    struct_sizes=STRUCT_SIZES,
    lay_out=lay_out,
    unknown_operators=_unknown_operators,
    warnings=_warnings,
    refused=lambda _graph: (),
    unknown_parts=lambda _graph, _kernels: (),
    refusals=_refusals,
    recorded={},
    recording_objects={},
    lifetimes=lambda graph: by_operator(graph.main),
    planner=greedy_first_wins,
    reads_offline_plans=False,
)
