"""TFLM 2022-04 (tflite-micro 45022bbbe to 95761fcfd), as Arduino libraries for the ESP32 have it: against 2022-12.

Its allocator is called SimpleMemoryAllocator until 2022-07-07, and keeps an error reporter.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from harness.domain.graph import Graph
from harness.estimate.layout import tflm_2022_12 as newer
from harness.estimate.layout.modern.operators import per_channel
from harness.estimate.layout.modern.tables import changed, generation, operators_named
from harness.estimate.layout.rules import OUTPUT, OpRule, is_int8, is_quantized, rule, scratch, temporary
from harness.estimate.layout.tflm_2023_06 import with_options
from harness.estimate.planning.lifetimes import by_scope_before_2022_11

_ONE_IN: Final = temporary(0, OUTPUT)
_NEWER: Final = newer.with_first_lstm(newer.with_small_variables(newer.TABLES))
_REFERENCE: Final = _NEWER.reference


def _convolution(channel_dimension: int, options_bytes: int) -> OpRule:
    """Without INT4 filters."""
    return rule(
        options_bytes,
        (52, 80),
        *(temporary(OUTPUT, 0, 1), *per_channel(1, channel_dimension), temporary(0, 1, 2, OUTPUT)),
    )


_MEAN: Final = rule(
    1,
    36,
    *(_ONE_IN, scratch(lambda node: 4 * node.out_elements, is_quantized)),
    *(temporary(0, 1), temporary(OUTPUT, when=is_int8)),
    align=1,
)
_REDUCE_MAX: Final = replace(_REFERENCE["REDUCE_MAX"], user_data=(36, 36))


def _refuses_int4(graph: Graph) -> tuple[str, ...]:
    packed = (tensor.name for _, tensor in graph.tensors() if tensor.type == "int4")
    return tuple(f"tensor {name!r} is of type int4, which TFLM 2022-04 lacks" for name in packed)


def _remarks(graph: Graph, kernels: str) -> tuple[str, ...]:
    places = operators_named(graph, frozenset({"ABS", "RSQRT"}))
    return (
        *(f"{place}: it keeps 28 bytes from 2022-06-17 on, and none before: counted" for place in places),
        *_NEWER.remarks(graph, kernels),
    )


TABLES: Final = replace(
    _NEWER,
    reference=changed(
        _REFERENCE,
        {
            "CONV_2D": _convolution(0, 24),
            "DEPTHWISE_CONV_2D": _convolution(3, 28),
            "FULLY_CONNECTED": rule(12, (32, 64), temporary(0, 1, 2, OUTPUT)),
            "TRANSPOSE_CONV": with_options(_REFERENCE["TRANSPOSE_CONV"], 12),
            "MEAN": _MEAN,
            "SUM": _MEAN,
            "REDUCE_MAX": _REDUCE_MAX,
        },
    ),
    struct_sizes={
        **_NEWER.struct_sizes,
        "SingleArenaBufferAllocator": (40, 80),
        "MicroAllocator": (40, 80),
        "RecordingSingleArenaBufferAllocator": (56, 112),
        "RecordingMicroAllocator": (128, 256),
    },
    cmsis_nn=None,
    has_esp_nn=False,
    ways=replace(_NEWER.ways, handles_per_subgraph=True),
    lifetimes=by_scope_before_2022_11,
    refusals=(*_NEWER.refusals, _refuses_int4),
    remarks=_remarks,
)

GENERATION: Final = generation("2022-04", TABLES)
