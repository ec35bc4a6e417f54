"""TFLM 2024-09 (tflite-micro 47b545074 to 50e7e5dbd): what differs from 2024-12."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from harness.domain.graph import Graph
from harness.estimate.layout import tflm_2024_12 as newer
from harness.estimate.layout.modern.cmsis_nn import CmsisNn
from harness.estimate.layout.modern.tables import changed, generation, operators_named
from harness.estimate.layout.rules import INPUTS, OUTPUT, is_int8, persistent, rule, temporary

# Per input an array of zero points and one of scales, which nothing reads.
_PER_INPUT: Final = persistent(lambda node: 4 * len(node.inputs), is_int8)
_LATER: Final = ("REVERSE_V2", "REDUCE_MIN", "DYNAMIC_UPDATE_SLICE", "REDUCE_ALL")


def transpose_conv_remark(graph: Graph, kernels: str) -> tuple[str, ...]:
    """What nobody can promise: the optimized kernel changed its scratch while these generations lasted."""
    places = operators_named(graph, frozenset({"TRANSPOSE_CONV"})) if kernels == "cmsis-nn" else ()
    return tuple(f"{place}: its scratch changed in 2024, and is counted as before 2024-11-12" for place in places)


TABLES: Final = replace(
    newer.TABLES,
    reference=changed(
        newer.TABLES.reference,
        {
            "CONCATENATION": rule(
                8,
                (24, 80),
                temporary(0, OUTPUT, INPUTS, OUTPUT),
                *(_PER_INPUT, _PER_INPUT),
                temporary(INPUTS, when=is_int8),
            ),
            **dict.fromkeys(_LATER),
        },
    ),
    cmsis_nn=CmsisNn(accumulates=True),
    esp_nn_conv=56,
    late={},
    remarks=transpose_conv_remark,
)

GENERATION: Final = generation("2024-09", TABLES)
