"""What operators need to be given so that their kernels stay inside their tensors.

Most kernels index their inputs and dimensions without looking how many there are: a model that gives fewer makes the
device read outside the list. The converter never writes such a model; a damaged or hostile file may.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from harness.domain.graph import Graph, Operator, Subgraph, operator_place

_TWO: Final = """
    ADD SUB MUL DIV MAXIMUM MINIMUM SQUARED_DIFFERENCE PRELU FLOOR_DIV FLOOR_MOD EQUAL NOT_EQUAL GREATER GREATER_EQUAL
    LESS LESS_EQUAL LOGICAL_AND LOGICAL_OR CONV_2D DEPTHWISE_CONV_2D FULLY_CONNECTED MEAN SUM REDUCE_MAX REDUCE_MIN
    REDUCE_ALL GATHER GATHER_ND BATCH_MATMUL PAD MIRROR_PAD EXPAND_DIMS TRANSPOSE RESIZE_BILINEAR
    RESIZE_NEAREST_NEIGHBOR CUMSUM SPLIT ARG_MAX ARG_MIN ASSIGN_VARIABLE BROADCAST_TO BROADCAST_ARGS FILL REVERSE_V2
    EMBEDDING_LOOKUP
    """.split()  # noqa: SIM905 - a list of names reads better without quotes

INPUTS: Final = {
    **dict.fromkeys(_TWO, 2),
    **dict.fromkeys(("VAR_HANDLE", "CALL_ONCE", "WHILE"), 0),
    **dict.fromkeys(("TRANSPOSE_CONV", "SLICE", "SELECT_V2", "SPLIT_V", "PADV2"), 3),
    **dict.fromkeys(("SPACE_TO_BATCH_ND", "BATCH_TO_SPACE_ND", "DYNAMIC_UPDATE_SLICE"), 3),
    "STRIDED_SLICE": 4,
}
"""Inputs that must be there, when it is not 1."""

NEEDED_INPUTS: Final = {"SVDF": (0, 1, 2, 4), "UNIDIRECTIONAL_SEQUENCE_LSTM": (0, 2, 3, 4, 6, 7, 8, 18, 19)}
"""Inputs that must be there, for operators with optional ones in between."""

WITHOUT_OUTPUT: Final = frozenset({"ASSIGN_VARIABLE", "CALL_ONCE", "WHILE"})

RANKS: Final = {
    "CONV_2D": {0: 4, 1: 4},
    "DEPTHWISE_CONV_2D": {0: 4, 1: 4},
    "TRANSPOSE_CONV": {1: 4, 2: 4},
    "AVERAGE_POOL_2D": {0: 4},
    "MAX_POOL_2D": {0: 4},
    "L2_POOL_2D": {0: 4},
    "FULLY_CONNECTED": {1: 2},
    "SVDF": {0: 2, 1: 2, 2: 2, 4: 2},
    "UNIDIRECTIONAL_SEQUENCE_LSTM": {0: 3, 18: 2},
    "RESIZE_BILINEAR": {0: 4},
    "RESIZE_NEAREST_NEIGHBOR": {0: 4},
    "DEPTH_TO_SPACE": {0: 4},
    "SPACE_TO_DEPTH": {0: 4},
}
"""Dimensions that inputs must have, by input number."""

OUTPUT_RANKS: Final = dict.fromkeys(
    ("CONV_2D", "DEPTHWISE_CONV_2D", "TRANSPOSE_CONV", "AVERAGE_POOL_2D", "MAX_POOL_2D", "L2_POOL_2D"), 4
)
"""Dimensions that the output must have."""


def operand_hazards(graph: Graph) -> Iterator[str]:
    """Operators that get less than their kernels read."""
    for subgraph, operator in graph.operators():
        for reason in _reasons(subgraph, operator):
            yield f"{operator_place(subgraph, operator)} {reason}"


def _reasons(subgraph: Subgraph, operator: Operator) -> Iterator[str]:
    needed = NEEDED_INPUTS.get(operator.name) or range(INPUTS.get(operator.name, 1))
    for number in needed:
        if number >= len(operator.inputs) or operator.inputs[number] < 0:
            yield f"has no input {number}, which its kernel reads"
    if operator.name not in WITHOUT_OUTPUT and (not operator.outputs or operator.outputs[0] < 0):
        yield "has no output"
    wanted = {operator.inputs[n]: rank for n, rank in RANKS.get(operator.name, {}).items() if n < len(operator.inputs)}
    if operator.name in OUTPUT_RANKS and operator.outputs:
        wanted[operator.outputs[0]] = OUTPUT_RANKS[operator.name]
    for index, rank in wanted.items():
        if index >= 0 and len(subgraph.tensors[index].shape) != rank:
            yield f"reads {rank} dimensions of tensor {index}, which has {len(subgraph.tensors[index].shape)}"
