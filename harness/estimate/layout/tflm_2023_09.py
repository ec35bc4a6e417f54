"""TFLM 2023-09 (tflite-micro ad8d238f9 to 47b545074): what differs from 2024-09."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from harness.domain.graph import Graph, operator_place
from harness.estimate.layout import tflm_2024_09 as newer
from harness.estimate.layout.modern.cmsis_nn import CmsisNn
from harness.estimate.layout.modern.operators import UNPACKED_FILTER
from harness.estimate.layout.modern.tables import changed, generation, operators_named
from harness.estimate.layout.rules import OUTPUT, Node, is_float, rule, temporary


def _remarks(graph: Graph, kernels: str) -> tuple[str, ...]:
    per_channel = tuple(
        f"{operator_place(subgraph, operator)} has scales per channel: TFLM 2023-09 refuses it from 2024-05-29 on, and "
        "takes the first scale for all before, so that its results are wrong"
        for subgraph, operator in graph.operators()
        if operator.name == "FULLY_CONNECTED" and _is_per_channel(Node(subgraph, operator, pointer_bytes=4))
    )
    lstm = operators_named(graph, frozenset({"UNIDIRECTIONAL_SEQUENCE_LSTM"})) if kernels == "cmsis-nn" else ()
    changing = (f"{place}: it took other buffers with CMSIS-NN before 2024-03-18" for place in lstm)
    return (*per_channel, *changing, *newer.TABLES.remarks(graph, kernels))


def _is_per_channel(node: Node) -> bool:
    return not is_float(node) and node.channels(1) > 1


TABLES: Final = replace(
    newer.TABLES,
    reference=changed(
        newer.TABLES.reference,
        {
            "FULLY_CONNECTED": rule((16, 32), (36, 72), temporary(0, 1, 2, OUTPUT), UNPACKED_FILTER, align=(4, 8)),
            "RELU6": rule(0, 2, temporary(0)),
        },
    ),
    cmsis_nn=CmsisNn(
        fully_connected=64, keeps_multipliers=True, unpacks_int4=True, accumulates=True, batch_matmul=False
    ),
    remarks=_remarks,
)

GENERATION: Final = generation("2023-09", TABLES)
