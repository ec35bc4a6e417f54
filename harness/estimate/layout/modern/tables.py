"""What the generations since 2022 differ in: the tables that the one walk through AllocateTensors is made with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from harness.domain.graph import Graph, called_subgraphs, operator_place
from harness.estimate.layout.generation import Generation
from harness.estimate.layout.modern.cmsis_nn import CmsisNn, cmsis_nn_table
from harness.estimate.layout.modern.esp_nn import esp_nn_tables, varying_scratch
from harness.estimate.layout.modern.operators import CUSTOM_WITHOUT_RULE
from harness.estimate.layout.modern.prepare import refused
from harness.estimate.layout.modern.walk import Ways, lay_out
from harness.estimate.layout.rules import OpRule, OpTable
from harness.estimate.planning.greedy import greedy_last_wins
from harness.estimate.planning.lifetimes import Lifetimes, by_scope
from harness.estimate.reading.foreign import advice

STRUCT_SIZES: Final = {
    "TfLiteType": (4, 4),
    "SingleArenaBufferAllocator": (36, 104),
    "RecordingSingleArenaBufferAllocator": (52, 104),
    "GreedyMemoryPlanner": (44, 72),
    "MicroAllocator": (36, 272),
    "RecordingMicroAllocator": (124, 272),
    "MicroResourceVariables": (12, 16),
    "MicroResourceVariable": (20, 40),
    "MicroBuiltinDataAllocator": (8, 16),
    "SubgraphAllocations": (8, 24),
    "TfLiteEvalTensor": (12, 24),
    "NodeAndRegistration": (32, 64),
    "ScratchBufferHandle": (4, 8),
    "ScratchBufferRequest": (12, 16),
    "TfLiteTensor": (40, 64),
    "TfLiteAffineQuantization": (12, 24),
    "AllocationInfo": (24, 32),
    "PlannerBuffer": (40, 40),
}
"""sizeof() of TFLM's structures with 4-byte and 8-byte pointers, both with TF_LITE_STATIC_MEMORY.

The 32-bit column is a plain build. The other is x86-64 as people meet it, the official Python wheel (measured with
tflite-micro 0.dev20261023182759). Its interpreter always records, so that `SingleArenaBufferAllocator` and
`MicroAllocator` are the recording ones; and it is built with USE_TFLM_COMPRESSION, which adds a list to
`SubgraphAllocations`, a kind to the recording, and scratch numbers to the user data of kernels that read compressed
tensors.

`TfLiteType` stands for all enumerations: with -fshort-enums they are smaller, and so is what operators keep.

`PlannerBuffer` is what GreedyMemoryPlanner keeps of its room per buffer: requirements, two sorted arrays, list, offset.
"""

_DYNAMIC_SIZES: Final = {"TfLiteTensor": 64, "NodeAndRegistration": 44}
"""Without TF_LITE_STATIC_MEMORY, on 32-bit targets."""
# In whose user data or options the sizes of a build show, and which structure of TFLM's that is.
_BUILTIN_STRUCTURES: Final = {
    "TfLiteConvParams": "CONV_2D",
    "TfLiteFullyConnectedParams": "FULLY_CONNECTED",
    "TfLiteStridedSliceParams": "STRIDED_SLICE",
    "TfLiteTransposeConvParams": "TRANSPOSE_CONV",
}
_USER_STRUCTURES: Final = {"OpDataReduce": "MEAN", "OpDataFullyConnected": "FULLY_CONNECTED"}

Refusal = Callable[[Graph], tuple[str, ...]]


@dataclass(frozen=True)
class Tables:
    """What one generation takes.

    Attributes:
        reference: what each operator takes with reference kernels.
        struct_sizes: those of STRUCT_SIZES that are of another size, with 4-byte and with 8-byte pointers.
        cmsis_nn: how the kernels for CMSIS-NN differ; None where nobody has looked.
        has_esp_nn: whether there are kernels for ESP-NN.
        esp_nn_conv: bytes that CONV_2D asks for with ESP-NN.
        has_64_bit: whether sizes with 8-byte pointers are those of the official wheel.
        ways: what it does otherwise than 2026-01.
        lifetimes: when each tensor is in use.
        late: operators that came while it lasted, and when.
        refusals: why it must not be given a model, beyond what no generation of this family must be given.
        remarks: what its estimates do not promise.
    """

    reference: OpTable
    struct_sizes: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    cmsis_nn: CmsisNn | None = field(default_factory=CmsisNn)
    has_esp_nn: bool = True
    esp_nn_conv: int = 60
    has_64_bit: bool = False
    ways: Ways = field(default_factory=Ways)
    lifetimes: Callable[[Graph], Lifetimes] = by_scope
    late: Mapping[str, str] = field(default_factory=dict)
    refusals: tuple[Refusal, ...] = ()
    remarks: Callable[[Graph, str], tuple[str, ...]] = lambda _graph, _kernels: ()

    def kernels(self) -> Mapping[str, OpTable]:
        """What each operator takes, by kernel set."""
        optimised = {} if self.cmsis_nn is None else {"cmsis-nn": cmsis_nn_table(self.reference, self.cmsis_nn)}
        return {
            "reference": self.reference,
            **optimised,
            **(esp_nn_tables(self.reference, self.esp_nn_conv) if self.has_esp_nn else {}),
        }


def generation(name: str, tables: Tables) -> Generation:
    """A generation of this family."""
    kernels = tables.kernels()
    sizes = {**STRUCT_SIZES, **tables.struct_sizes}
    return Generation(
        id=name,
        kernels=tuple(kernels),
        struct_sizes=sizes,
        checked_sizes=_checked_sizes(tables.reference),
        dynamic_sizes=_DYNAMIC_SIZES,
        lay_out=partial(lay_out, kernels=kernels, ways=tables.ways, lifetimes_of=tables.lifetimes),
        unknown_operators=partial(_unknown_operators, tables.reference),
        warnings=partial(_warnings, tables, name),
        unknown_parts=_unknown_parts,
        refused=lambda graph: tuple(refused(graph)),
        refusals=partial(_refusals, tables),
        recorded=RECORDED,
        recording_objects={
            "allocator": "RecordingSingleArenaBufferAllocator",
            "micro_allocator": "RecordingMicroAllocator",
        },
        lifetimes=tables.lifetimes,
        planner=greedy_last_wins,
        reads_offline_plans=True,
        has_64_bit=tables.has_64_bit,
    )


RECORDED: Final = {
    "eval_tensors": ("eval_tensors",),
    "persistent_tensors": ("persistent_tensors",),
    "persistent_quantization": ("persistent_quantization",),
    "persistent_buffers": ("resource_variables", "persistent_buffers"),
    "variables": ("variables",),
    "node_and_registration": ("node_and_registration",),
    "op_data": (),  # there is such a kind, but nothing is ever counted as it
}
"""For each kind that a RecordingMicroAllocator reports, the sections that it is made of."""


def _checked_sizes(reference: OpTable) -> Mapping[str, int]:
    """Structures whose size tells generations apart, on 32-bit targets with reference kernels."""
    options = {name: reference[operator].builtin_data[0] for name, operator in _BUILTIN_STRUCTURES.items()}
    return options | {name: reference[operator].user_data[0] for name, operator in _USER_STRUCTURES.items()}


def _unknown_operators(reference: OpTable, graph: Graph) -> tuple[str, ...]:
    return tuple(
        operator_place(subgraph, operator)
        for subgraph, operator in graph.operators()
        if operator.name not in (CUSTOM_WITHOUT_RULE if operator.is_custom else reference)
    )


def _warnings(tables: Tables, name: str, graph: Graph, kernels: str) -> tuple[str, ...]:
    late = tuple(
        f"{operator_place(subgraph, operator)}: TFLM {name} has {operator.name} from {tables.late[operator.name]} on"
        for subgraph, operator in graph.operators()
        if operator.name in tables.late
    )
    return (*late, *tables.remarks(graph, kernels))


def _unknown_parts(graph: Graph, kernels: str) -> tuple[str, ...]:
    without_rule = tuple(
        f"{operator_place(subgraph, operator)} is not in the profile: its own needs are counted as 0; "
        + (advice(operator.name) or "run it on the device and tune")
        for subgraph, operator in graph.operators()
        if operator.is_custom
    )
    return (*without_rule, *varying_scratch(graph, kernels))


def _refusals(tables: Tables, graph: Graph) -> tuple[str, ...]:
    unseen_calls = tuple(
        f"{operator_place(subgraph, operator)} calls subgraphs, but has its code only in the older field, where TFLM's "
        "planner does not look: caller and called would share memory"
        for subgraph, operator in graph.operators()
        if called_subgraphs(operator) and operator.word_code != operator.code
    )
    return (*unseen_calls, *(reason for refusal in tables.refusals for reason in refusal(graph)))


def changed(reference: OpTable, rules: Mapping[str, OpRule | None]) -> OpTable:
    """An operator table with some rules of its own; None for an operator that there is not."""
    merged = {**reference, **rules}
    return {name: rule for name, rule in merged.items() if rule is not None}


def operators_named(graph: Graph, names: frozenset[str]) -> tuple[str, ...]:
    """The places of a model's operators of some kinds."""
    return tuple(
        operator_place(subgraph, operator) for subgraph, operator in graph.operators() if operator.name in names
    )
