"""TFLM 2026-08 (tflite-micro 90b983c): what AllocateTensors takes of the arena, in order.

Sources: micro_allocator.cc, micro_interpreter.cc, micro_interpreter_graph.cc, micro_allocation_info.cc and
single_arena_buffer_allocator.cc of tensorflow/lite/micro; sizes measured by compiling them.
"""

from __future__ import annotations

from typing import Final

from harness.domain.graph import Graph, called_subgraphs, operator_place
from harness.estimate.layout.generation import Generation
from harness.estimate.layout.tflm_2026_08.esp_nn import varying_scratch
from harness.estimate.layout.tflm_2026_08.layout import KERNELS, STRUCT_SIZES, lay_out
from harness.estimate.layout.tflm_2026_08.operators import CUSTOM_WITHOUT_RULE, REFERENCE
from harness.estimate.planning.greedy import greedy_last_wins
from harness.estimate.planning.lifetimes import by_scope


def _unknown_operators(graph: Graph) -> tuple[str, ...]:
    return tuple(
        operator_place(subgraph, operator)
        for subgraph, operator in graph.operators()
        if operator.name not in (CUSTOM_WITHOUT_RULE if operator.is_custom else REFERENCE)
    )


def _warnings(graph: Graph, kernels: str) -> tuple[str, ...]:
    without_rule = tuple(
        f"{operator_place(subgraph, operator)} is not in the profile: its own needs are counted as 0; run it on the "
        "device and tune"
        for subgraph, operator in graph.operators()
        if operator.is_custom
    )
    return (*without_rule, *varying_scratch(graph, kernels))


def _refusals(graph: Graph) -> tuple[str, ...]:
    return tuple(
        f"{operator_place(subgraph, operator)} calls subgraphs, but has its code only in the older field, where TFLM "
        "2026-08's planner does not look: caller and called would share memory"
        for subgraph, operator in graph.operators()
        if called_subgraphs(operator) and operator.word_code != operator.code
    )


GENERATION: Final = Generation(
    id="2026-08",
    kernels=tuple(KERNELS),
    struct_sizes=STRUCT_SIZES,
    lay_out=lay_out,
    unknown_operators=_unknown_operators,
    warnings=_warnings,
    refusals=_refusals,
    recorded={
        "eval_tensors": ("eval_tensors",),
        "persistent_tensors": ("persistent_tensors",),
        "persistent_quantization": ("persistent_quantization",),
        "persistent_buffers": ("resource_variables", "persistent_buffers"),
        "variables": ("variables",),
        "node_and_registration": ("node_and_registration",),
        "op_data": (),  # there is such a kind, but nothing is ever counted as it
    },
    recording_objects={
        "allocator": "RecordingSingleArenaBufferAllocator",
        "micro_allocator": "RecordingMicroAllocator",
    },
    lifetimes=by_scope,
    planner=greedy_last_wins,
    reads_offline_plans=True,
)
