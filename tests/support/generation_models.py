"""Models of the operators that TFLM's generations differ in, one each and one of them all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.support.models import ModelBuilder, SubgraphBuilder

CHANNELS = 6


@dataclass(frozen=True)
class Operand:
    """A constant input of an operator."""

    shape: Sequence[int]
    type: str = "int8"
    scales: int = 0


@dataclass(frozen=True)
class Case:
    """An operator, and what its inputs are.

    Attributes:
        operator: its name.
        shape: of the input that varies.
        output: the output's shape.
        before, behind: constant inputs on both sides of it.
        options: the options' table, and fields of it.
        scales: of the input that varies, and of the output.
    """

    operator: str
    shape: Sequence[int]
    output: Sequence[int]
    before: Sequence[Operand] = ()
    behind: Sequence[Operand] = ()
    options: tuple[str, Mapping[str, Any]] | None = None
    type: str = "int8"
    scales: int = field(default=1)


def _bounds(*shape: int) -> tuple[Operand, ...]:
    return (Operand(shape, "int32"),) * 3


CASES = {
    "conv": Case(
        *("CONV_2D", [1, 4, 4, 2], [1, 4, 4, CHANNELS]),
        behind=(Operand([CHANNELS, 3, 3, 2], scales=CHANNELS), Operand([CHANNELS], "int32", CHANNELS)),
        options=("Conv2DOptions", {"StrideW": 1, "StrideH": 1, "DilationWFactor": 1, "DilationHFactor": 1}),
    ),
    "fully_connected": Case(
        *("FULLY_CONNECTED", [1, 8], [1, 4]),
        behind=(Operand([4, 8], scales=1), Operand([4], "int32", 1)),
        options=("FullyConnectedOptions", {}),
    ),
    "fully_connected_per_channel": Case(
        *("FULLY_CONNECTED", [1, 8], [1, 4]),
        behind=(Operand([4, 8], scales=4), Operand([4], "int32", 4)),
        options=("FullyConnectedOptions", {}),
    ),
    "transpose_conv": Case(
        *("TRANSPOSE_CONV", [1, 4, 4, 2], [1, 8, 8, CHANNELS]),
        before=(Operand([4], "int32"), Operand([CHANNELS, 2, 2, 2], scales=CHANNELS)),
        options=("TransposeConvOptions", {"StrideW": 2, "StrideH": 2}),
    ),
    "strided_slice": Case(
        "STRIDED_SLICE", [1, 8, 4], [1, 4, 4], behind=_bounds(3), options=("StridedSliceOptions", {})
    ),
    "mean": Case(*("MEAN", [1, 4, 4, 8], [1, 8]), behind=(Operand([2], "int32"),), options=("ReducerOptions", {})),
    "mean_float": Case(
        *("MEAN", [1, 4, 4, 8], [1, 8]),
        behind=(Operand([2], "int32"),),
        options=("ReducerOptions", {}),
        type="float32",
        scales=0,
    ),
    "reduce_max": Case(
        *("REDUCE_MAX", [1, 4, 4, 8], [1, 8]), behind=(Operand([2], "int32"),), options=("ReducerOptions", {})
    ),
    "concatenation": Case(
        *("CONCATENATION", [1, 8, 4], [1, 24, 4]),
        behind=(Operand([1, 8, 4], scales=1), Operand([1, 8, 4], scales=1)),
        options=("ConcatenationOptions", {"Axis": 1}),
    ),
    "concatenation_float": Case(
        *("CONCATENATION", [1, 8, 4], [1, 16, 4]),
        behind=(Operand([1, 8, 4], "float32"),),
        options=("ConcatenationOptions", {"Axis": 1}),
        type="float32",
        scales=0,
    ),
    "relu6": Case("RELU6", [1, 24], [1, 24]),
    "select": Case("SELECT_V2", [1, 16], [1, 16], before=(Operand([1, 16], "bool"),), behind=(Operand([1, 16]),)),
    "gather_nd": Case("GATHER_ND", [8, 4], [2, 4], behind=(Operand([2, 1], "int32"),)),
}

# What these take from the tail last may lie over their own temporary tensors, which TFLM does not notice.
MAY_OVERLAP = frozenset({"fully_connected_per_channel", "gather_nd"})


def model_of(*names: str) -> bytes:
    """A model with these operators side by side, each with an input and an output of its own."""
    model = ModelBuilder()
    for name in names:
        _add(model, name, CASES[name])
    return model.build()


def _add(model: SubgraphBuilder, name: str, case: Case) -> None:
    def constants(operands: Sequence[Operand], side: str) -> list[int]:
        return [
            model.constant(f"{name}_{side}{number}", each.shape, each.type, scales=each.scales)
            for number, each in enumerate(operands)
        ]

    x = model.input(f"{name}_x", case.shape, case.type, scales=case.scales)
    inputs = [*constants(case.before, "before"), x, *constants(case.behind, "behind")]
    y = model.tensor(f"{name}_y", case.output, case.type, scales=case.scales)
    model.operator(case.operator, inputs, [y], options=case.options)
    model.output(y)
