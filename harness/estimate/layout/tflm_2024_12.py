"""TFLM 2024-12 (tflite-micro 50e7e5dbd to 0efdd51a3): what differs from 2026-01."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from harness.estimate.layout import tflm_2026_01 as newer
from harness.estimate.layout.generation import Generation
from harness.estimate.layout.modern.tables import changed, generation
from harness.estimate.layout.rules import OUTPUT, OpRule, is_int8, is_quantized, rule, scratch, temporary

_MEAN: Final = rule(
    1,
    40,
    temporary(0, OUTPUT, 1),
    scratch(lambda node: 4 * node.out_elements, is_quantized),
    *(temporary(0, 1), temporary(OUTPUT, when=is_int8)),
    align=1,
)


def _smaller(name: str) -> OpRule:
    return replace(newer.TABLES.reference[name], user_data=(40, 40))


TABLES: Final = replace(
    newer.TABLES,
    reference=changed(
        newer.TABLES.reference,
        {
            "MEAN": _MEAN,
            "SUM": _MEAN,
            "REDUCE_MAX": _smaller("REDUCE_MAX"),
            "REDUCE_MIN": _smaller("REDUCE_MIN"),
            "REDUCE_ALL": _smaller("REDUCE_ALL"),
        },
    ),
    late={
        "REVERSE_V2": "2025-07-10",
        "REDUCE_MIN": "2025-08-05",
        "DYNAMIC_UPDATE_SLICE": "2025-11-10",
        "REDUCE_ALL": "2026-01-08",
    },
    has_64_bit=False,
)

# The fork of Infineon's ml-tflite-micro 3.4.0: one member more in each of the two.
_INFINEON: Final = replace(TABLES, struct_sizes={"SingleArenaBufferAllocator": (40, 80), "MicroAllocator": (40, 80)})


def _with_traits(traits: frozenset[str]) -> Generation:
    return generation("2024-12", _INFINEON if "counts-temporaries" in traits else TABLES)


GENERATION: Final = replace(generation("2024-12", TABLES), with_traits=_with_traits)
