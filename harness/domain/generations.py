"""The one table of TFLM generations: source states that differ in what AllocateTensors takes of the arena.

A new generation is one entry here and one layout module in `harness/estimate/layout`. Dates and commits are those of
tensorflow/tflite-micro; the marks were tried on its history.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

_MICRO: Final = "tensorflow/lite/micro"
_KERNELS: Final = f"{_MICRO}/kernels"
# The structures of builtin operators; the first may only include the next.
_BUILTIN: Final = tuple(
    f"tensorflow/{folder}/c/builtin_op_data.h" for folder in ("lite", "lite/core", "compiler/mlir/lite/core")
)
_ALLOCATORS: Final = tuple(
    f"{_MICRO}/{folder}{name}.h"
    for folder in ("arena_allocator/", "")
    for name in ("single_arena_buffer_allocator", "simple_memory_allocator")
)
MEASURED: Final = "measured"
READ: Final = "read"


@dataclass(frozen=True)
class Mark:
    """Something in headers, comments aside, that tells a generation from older ones.

    Attributes:
        what: in words.
        headers: places where it may stand; the texts of all that are there are looked at together.
        pattern: a regular expression that finds it; empty when a header's presence is enough.
        absent: whether it must not be there.
    """

    what: str
    headers: tuple[str, ...]
    pattern: str = ""
    absent: bool = False

    def holds(self, texts: Mapping[str, str]) -> bool:
        """Whether headers have it.

        Args:
            texts: the text of each header that is there, without comments.
        """
        found = [texts[header] for header in self.headers if header in texts]
        is_there = bool(found) and re.search(self.pattern, "\n".join(found)) is not None
        return is_there != self.absent


@dataclass(frozen=True)
class Trait:
    """A difference inside a generation that headers show.

    Attributes:
        name: how profiles call it.
        mark: which headers have it; None where no header shows it.
        about: what it means for the arena.
    """

    name: str
    mark: Mark | None
    about: str


@dataclass(frozen=True)
class TflmGeneration:
    """A TFLM source state, or rather all those that lay models out alike.

    Attributes:
        name: the month in which it began.
        commit: with which it began.
        since, until: its first day, and the first day of the next; empty for today.
        layer: file stem in `firmware/tflm` of the layer over its interface.
        layout: module in `harness/estimate/layout`, or a module's full name.
        marks: all of them tell it from older ones.
        basis: whether its figures were measured with such a library, or read from its sources.
        measured_kernels: the kernel sets that were measured, where any was.
        aliases: names that it had before.
        traits: differences inside it.
        refused: why harness does not serve it; empty when it does.
    """

    name: str
    commit: str
    since: str
    until: str
    layer: str = ""
    layout: str = ""
    marks: tuple[Mark, ...] = ()
    basis: str = READ
    measured_kernels: tuple[str, ...] = ("reference",)
    aliases: tuple[str, ...] = ()
    traits: tuple[Trait, ...] = ()
    refused: str = ""

    @property
    def is_served(self) -> bool:
        """Whether harness can build a firmware with it and estimate for it."""
        return not self.refused


def _member(structure: str, member: str) -> Mark:
    """A member of an operator's options."""
    return Mark(f"{member} in {structure}", _BUILTIN, rf"\b{member}\b[^{{}}]*\}}\s*{structure}\s*;")


_REPORTER_MEMBER: Final = r"ErrorReporter\s*\*\s*error_reporter_\s*;"
_OWN_INTERFACES: Final = "its interfaces and structures are of its own: take a release of 2022-12 or later"

GENERATIONS: Final[tuple[TflmGeneration, ...]] = (
    TflmGeneration(
        name="2026-01",
        commit="0efdd51a3",
        since="2026-01-16",
        until="",
        layer="tflm_2022_10",
        layout="tflm_2026_01",
        marks=(Mark("scratch of REDUCE", (f"{_KERNELS}/reduce.h",), r"\bscratch_accumulator_idx\b"),),
        basis=MEASURED,
        measured_kernels=("reference", "cmsis-nn"),
        aliases=("2026-08",),
    ),
    TflmGeneration(
        name="2024-12",
        commit="50e7e5dbd",
        since="2024-12-16",
        until="2026-01-16",
        layer="tflm_2022_10",
        layout="tflm_2024_12",
        marks=(Mark("scratch for compressed weights", (f"{_KERNELS}/conv.h",), r"\bweights_scratch_index\b"),),
        basis=MEASURED,
        traits=(Trait("counts-temporaries", None, "Infineon's fork: both allocators take 40 bytes"),),
    ),
    TflmGeneration(
        name="2024-09",
        commit="47b545074",
        since="2024-09-27",
        until="2024-12-16",
        layer="tflm_2022_10",
        layout="tflm_2024_09",
        marks=(Mark("scales per channel", (f"{_KERNELS}/fully_connected.h",), r"\bis_per_channel\b"),),
    ),
    TflmGeneration(
        name="2023-09",
        commit="ad8d238f9",
        since="2023-09-14",
        until="2024-09-27",
        layer="tflm_2022_10",
        layout="tflm_2023_09",
        marks=(_member("TfLiteConvParams", "quantized_bias_type"),),
        basis=MEASURED,
    ),
    TflmGeneration(
        name="2023-06",
        commit="982aaef60",
        since="2023-06-01",
        until="2023-09-14",
        layer="tflm_2022_10",
        layout="tflm_2023_06",
        marks=(_member("TfLiteStridedSliceParams", "offset"),),
    ),
    TflmGeneration(
        name="2022-12",
        commit="7925e839c",
        since="2022-12-14",
        until="2023-06-01",
        layer="tflm_2022_10",
        layout="tflm_2022_12",
        marks=(_member("TfLiteTransposeConvParams", "activation"),),
        traits=(
            Trait(
                "first-lstm",
                Mark("OpDataLSTM", (f"{_KERNELS}/lstm_shared.h",), r"\bOpDataLSTM\b", absent=True),
                "before 2023-02-02: an LSTM of another design, which is refused",
            ),
            Trait(
                "small-variables",
                Mark("default_value", (f"{_MICRO}/micro_resource_variable.h",), r"\bdefault_value\b", absent=True),
                "before 2023-02-17: resource variables of 16 bytes each, no copy of GATHER_ND's shape, no RESHAPE with "
                "an open dimension, and variables that no offline plan places",
            ),
        ),
    ),
    TflmGeneration(
        name="2022-09",
        commit="95761fcfd",
        since="2022-09-19",
        until="2022-12-14",
        marks=(
            Mark("SingleArenaBufferAllocator", (f"{_MICRO}/arena_allocator/single_arena_buffer_allocator.h",)),
            Mark("no error reporter in the allocator", _ALLOCATORS, _REPORTER_MEMBER, absent=True),
        ),
        refused="it changed from week to week: take a release of 2022-12 or later",
    ),
    TflmGeneration(
        name="2022-04",
        commit="45022bbbe",
        since="2022-04-05",
        until="2022-09-19",
        layer="tflm_2022_04",
        layout="tflm_2022_04",
        marks=(
            Mark(
                "IPersistentBufferAllocator",
                (f"{_MICRO}/ibuffer_allocator.h", f"{_MICRO}/arena_allocator/ibuffer_allocator.h"),
            ),
            Mark("an error reporter in the allocator", _ALLOCATORS, _REPORTER_MEMBER),
        ),
    ),
    TflmGeneration(
        name="2022-03",
        commit="8c41f9606",
        since="2022-03-02",
        until="2022-04-05",
        marks=(Mark("AllocationInfoBuilder", (f"{_MICRO}/micro_allocation_info.h",)),),
        refused=_OWN_INTERFACES,
    ),
    TflmGeneration(
        name="2021-09",
        commit="a1f4b8804",
        since="2021-09-09",
        until="2022-03-02",
        marks=(Mark("MicroMemoryPlanner", (f"{_MICRO}/memory_planner/micro_memory_planner.h",)),),
        refused=_OWN_INTERFACES,
    ),
    TflmGeneration(
        name="2021-05",
        commit="d7ac83e6d",
        since="2021-05-13",
        until="2021-09-09",
        marks=(Mark("MicroGraph", (f"{_MICRO}/micro_graph.h",)),),
        refused=_OWN_INTERFACES,
    ),
    TflmGeneration(
        name="TF 2.4",
        commit="",
        since="2020-10",
        until="2021-05-13",
        marks=(Mark("RecordingMicroInterpreter", (f"{_MICRO}/recording_micro_interpreter.h",)),),
        refused=_OWN_INTERFACES,
    ),
    TflmGeneration(
        name="2020-07",
        commit="33689c48",
        since="2020-07",
        until="2020-10",
        layer="tflm_2020",
        layout="tflm_2020_07",
        marks=(
            Mark("ErrorReporter", ("tensorflow/lite/core/api/error_reporter.h",), r"\bclass ErrorReporter\b"),
            Mark("AllOpsResolver", (f"{_KERNELS}/all_ops_resolver.h",), r"\bclass AllOpsResolver\b"),
            Mark("Register_ functions", (f"{_KERNELS}/micro_ops.h",), r"\bRegister_\w+"),
        ),
        basis=MEASURED,
    ),
)
"""Newest first: a tree is of the first generation whose marks it has."""

DEFAULT: Final = "2026-01"
"""What an estimate is for when nobody says: what people run today."""
FIRST: Final = "2020-07"
"""The one that the crate brings; the only one with operators by function, and with a planner of its own."""


def canonical(name: str, generations: Sequence[TflmGeneration] = GENERATIONS) -> str:
    """The present name of a generation; any other word as it is."""
    entry = generation_named(name, generations)
    return entry.name if entry else name


def served(generations: Sequence[TflmGeneration] = GENERATIONS) -> Iterator[TflmGeneration]:
    """The generations that harness serves, newest first."""
    return (each for each in generations if each.is_served)


def layer_of(name: str) -> str:
    """The file stem of the firmware's layer over a generation's interface; empty for one that is not served."""
    entry = generation_named(name)
    return entry.layer if entry else ""


def generation_named(name: str, generations: Sequence[TflmGeneration] = GENERATIONS) -> TflmGeneration | None:
    """The generation of that name or alias; None without one."""
    return next((each for each in generations if name in (each.name, *each.aliases)), None)
