"""TFLM 2022-12 (tflite-micro 7925e839c to 982aaef60): what differs from 2023-06.

Headers show which half a tree is of: see the traits of this generation in `harness/domain/generations.py`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from harness.domain.graph import Graph
from harness.estimate.layout import tflm_2023_06 as newer
from harness.estimate.layout.generation import Generation
from harness.estimate.layout.modern.tables import Tables, changed, generation, operators_named
from harness.estimate.layout.rules import OUTPUT, rule, temporary
from harness.estimate.layout.tflm_2023_06 import with_options

FIRST_LSTM: Final = "first-lstm"
SMALL_VARIABLES: Final = "small-variables"
LSTM: Final = frozenset({"UNIDIRECTIONAL_SEQUENCE_LSTM"})


def _refuses_offline_plans(graph: Graph) -> tuple[str, ...]:
    if graph.offline_plan is None or len(graph.subgraphs) == 1:
        return ()
    return ("TFLM before 2023-03-29 takes an offline plan of several subgraphs from its start in each of them",)


def _refuses_first_lstm(graph: Graph) -> tuple[str, ...]:
    words = "TFLM before 2023-02-02 has an LSTM of another design"
    return tuple(f"{place}: {words}" for place in operators_named(graph, LSTM))


def _refuses_open_reshapes(graph: Graph) -> tuple[str, ...]:
    words = "leaves a dimension (-1) open, which TFLM before 2023-02-20 writes into the model: in flash that faults"
    return tuple(f"tensor {tensor.name!r} {words}" for _, tensor in graph.tensors() if tensor.shape_inferred)


_REFERENCE: Final = newer.TABLES.reference

TABLES: Final = replace(
    newer.TABLES,
    reference=changed(
        _REFERENCE,
        {
            "STRIDED_SLICE": with_options(_REFERENCE["STRIDED_SLICE"], 20),
            "SELECT_V2": replace(_REFERENCE["SELECT_V2"], user_data=(2, 2)),
            "EMBEDDING_LOOKUP": None,
            "BATCH_MATMUL": None,
        },
    ),
    late={},
    refusals=(_refuses_offline_plans,),
)


def with_first_lstm(tables: Tables) -> Tables:
    """Before 2023-02-02."""
    return replace(tables, refusals=(*tables.refusals, _refuses_first_lstm))


def with_small_variables(tables: Tables) -> Tables:
    """Before 2023-02-17."""
    return replace(
        tables,
        reference=changed(tables.reference, {"GATHER_ND": rule(0, 0, temporary(0, 1, OUTPUT))}),
        struct_sizes={**tables.struct_sizes, "MicroResourceVariable": (16, 32)},
        ways=replace(tables.ways, variables_ignore_offline_plan=True),
        refusals=(*tables.refusals, _refuses_open_reshapes),
    )


def _with_traits(traits: frozenset[str]) -> Generation:
    tables = TABLES
    if FIRST_LSTM in traits:
        tables = with_first_lstm(tables)
    if SMALL_VARIABLES in traits:
        tables = with_small_variables(tables)
    return generation("2022-12", tables)


GENERATION: Final = replace(generation("2022-12", TABLES), with_traits=_with_traits)
