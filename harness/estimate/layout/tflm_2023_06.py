"""TFLM 2023-06 (tflite-micro 982aaef60 to ad8d238f9): what differs from 2023-09."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from harness.domain.graph import Graph
from harness.estimate.layout import tflm_2023_09 as newer
from harness.estimate.layout.modern.cmsis_nn import CmsisNn
from harness.estimate.layout.modern.tables import changed, generation, operators_named
from harness.estimate.layout.rules import OpRule


def with_options(rule: OpRule, size_bytes: int) -> OpRule:
    """The rule of an operator whose options are parsed into a structure of another size, on 32-bit targets."""
    return replace(rule, builtin_data=(size_bytes, rule.builtin_data[1]))


def lstm_remark(graph: Graph, kernels: str) -> tuple[str, ...]:
    """What nobody can promise: the first optimized LSTM kept other buffers."""
    lstm = operators_named(graph, frozenset({"UNIDIRECTIONAL_SEQUENCE_LSTM"})) if kernels == "cmsis-nn" else ()
    return tuple(f"{place}: what it took with CMSIS-NN before 2024-02-09 is not known" for place in lstm)


_REFERENCE: Final = newer.TABLES.reference

TABLES: Final = replace(
    newer.TABLES,
    reference=changed(
        _REFERENCE,
        {
            "CONV_2D": with_options(_REFERENCE["CONV_2D"], 24),
            "FULLY_CONNECTED": with_options(_REFERENCE["FULLY_CONNECTED"], 12),
            "TRANSPOSE_CONV": with_options(_REFERENCE["TRANSPOSE_CONV"], 16),
        },
    ),
    cmsis_nn=CmsisNn(
        fully_connected=60,
        keeps_multipliers=True,
        svdf=36,
        block=1,
        unpacks_int4=True,
        transpose_conv=False,
        batch_matmul=False,
    ),
    late={"BATCH_MATMUL": "2023-09-06"},
    remarks=lstm_remark,
)

GENERATION: Final = generation("2023-06", TABLES)
