"""A small sound model for every builtin operator of TFLM, in each element type that its kernel tells apart.

    for case in SOUND:
        model = case.build()  # a ModelBuilder

What is given for an operator is what its kernel accepts; tests change one thing at a time and ask TFLM again.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any, Final

from tests.support.models import ModelBuilder, Options

Shape = Sequence[int]


@dataclass(frozen=True)
class Operand:
    """A tensor of an operator.

    Attributes:
        shape: its dimensions.
        type: element type; integers of 8 and 16 bits get a scale.
        data: contents of a constant; None for one that is computed.
        scales: quantization scales; by type when None.
        is_variable: whether it keeps its contents from run to run.
    """

    shape: Shape
    type: str = "float32"
    data: bytes | None = None
    scales: int | None = None
    scale: float = 0.5
    zero_point: int = 0
    dimension: int = 0
    is_variable: bool = False

    @property
    def quantized(self) -> int:
        """Number of scales."""
        default = 1 if self.type in {"int8", "uint8", "int16", "int4"} else 0
        return default if self.scales is None else self.scales


@dataclass(frozen=True)
class OperatorCase:
    """An operator with its operands.

    Attributes:
        name: the operator.
        variant: what is special about it; element types as a rule.
        inputs: None for an absent optional one.
        outputs: its results.
        options: its options table, as `ModelBuilder.operator` takes it.
    """

    name: str
    variant: str
    inputs: tuple[Operand | None, ...]
    outputs: tuple[Operand, ...]
    options: Options | None = None

    @property
    def id(self) -> str:
        """For test names."""
        return f"{self.name}-{self.variant}"

    def build(self) -> ModelBuilder:
        """The model: one operator; inputs without contents are the model's."""
        model = ModelBuilder()
        inputs = [-1 if each is None else _add(model, f"in{number}", each) for number, each in enumerate(self.inputs)]
        outputs = [_add(model, f"out{number}", each) for number, each in enumerate(self.outputs)]
        model.operator(self.name, inputs, outputs, self.options)
        model.inputs = [
            index
            for index, each in zip(inputs, self.inputs, strict=True)
            if each is not None and each.data is None and not each.is_variable
        ]
        model.outputs = [index for index, each in zip(outputs, self.outputs, strict=True) if not each.is_variable]
        return model

    def with_input(self, number: int, **changes: Any) -> OperatorCase:
        """The same with one input changed."""
        inputs = list(self.inputs)
        operand = inputs[number]
        inputs[number] = None if operand is None else replace(operand, **changes)
        return replace(self, inputs=tuple(inputs))

    def with_output(self, number: int, **changes: Any) -> OperatorCase:
        """The same with one output changed."""
        outputs = list(self.outputs)
        outputs[number] = replace(outputs[number], **changes)
        return replace(self, outputs=tuple(outputs))


def _add(model: ModelBuilder, name: str, each: Operand) -> int:
    return model.tensor(
        name,
        each.shape,
        each.type,
        data=each.data,
        scales=each.quantized,
        scale=each.scale,
        zero_point=each.zero_point,
        quantized_dimension=each.dimension,
        variable=each.is_variable,
    )


def integers(*values: int) -> Operand:
    """A constant vector of 32-bit integers."""
    return Operand((len(values),), "int32", struct.pack(f"<{len(values)}i", *values))


def scalar(value: int) -> Operand:
    """A constant 32-bit integer without dimensions."""
    return Operand((), "int32", struct.pack("<i", value))


_BYTES: Final = {"float32": 4, "int32": 4, "int64": 8, "int16": 2, "int8": 1, "uint8": 1, "bool": 1}


def constant(shape: Shape, type: str = "float32", **more: Any) -> Operand:  # noqa: A002 - the schema's word
    """A constant of zeros."""
    size = (prod(shape) + 1) // 2 if type == "int4" else prod(shape) * _BYTES[type]
    return Operand(shape, type, bytes(size), **more)


def _unary(names: str, types: str, options: Options | None = None) -> Iterator[OperatorCase]:
    for name in names.split():
        for each in types.split():
            yield OperatorCase(name, each, (Operand((1, 6), each),), (Operand((1, 6), each),), options)


def _binary(names: str, types: str, result: str = "", options: Options | None = None) -> Iterator[OperatorCase]:
    for name in names.split():
        for each in types.split():
            two = (Operand((1, 6), each), Operand((1, 6), each))
            yield OperatorCase(name, each, two, (Operand((1, 6), result or each),), options)


_STRIDES: Final = {"StrideW": 1, "StrideH": 1}
_IMAGE: Final = (1, 4, 4, 2)


def _convolutions() -> Iterator[OperatorCase]:
    for each, weights, bias in (
        ("float32", "float32", "float32"),
        ("int8", "int8", "int32"),
        ("int8", "int4", "int32"),
        ("int16", "int8", "int64"),
        ("int16", "int8", "int32"),
    ):
        quantized = {"scales": 3} if weights != "float32" else {}
        image, name = Operand(_IMAGE, each), f"{each}_{weights}_{bias}"
        result = Operand((1, 4, 4, 3), each)
        filters, biases = constant((3, 3, 3, 2), weights, **quantized), constant((3,), bias, scales=0)
        yield OperatorCase("CONV_2D", name, (image, filters, biases), (result,), ("Conv2DOptions", _STRIDES))
        yield OperatorCase("CONV_2D", f"{name}_no_bias", (image, filters), (result,), ("Conv2DOptions", _STRIDES))
        deep = {**quantized, "dimension": 3, "scales": 4} if quantized else {}
        filters, biases = constant((1, 3, 3, 4), weights, **deep), constant((4,), bias, scales=0)
        options = ("DepthwiseConv2DOptions", _STRIDES | {"DepthMultiplier": 2})
        result = Operand((*_IMAGE[:3], 4), each)
        yield OperatorCase("DEPTHWISE_CONV_2D", name, (image, filters, biases), (result,), options)


def _transposed_convolutions() -> Iterator[OperatorCase]:
    for each, bias in (("float32", "float32"), ("int8", "int32"), ("int16", "int64"), ("int16", "int16")):
        weights = "float32" if each == "float32" else "int8"
        quantized = {"scales": 3} if weights == "int8" else {}
        inputs = (
            integers(1, 4, 4, 3),
            constant((3, 3, 3, 2), weights, **quantized),
            Operand(_IMAGE, each),
            constant((3,), bias, scales=0),
        )
        options = ("TransposeConvOptions", _STRIDES)
        yield OperatorCase("TRANSPOSE_CONV", f"{each}_{bias}", inputs, (Operand((1, 4, 4, 3), each),), options)


def _fully_connected() -> Iterator[OperatorCase]:
    for each, weights, scales, bias in (
        ("float32", "float32", 0, "float32"),
        ("int8", "int8", 1, "int32"),
        ("int8", "int8", 3, "int32"),
        ("int8", "int4", 1, "int32"),
        ("int16", "int8", 1, "int64"),
        ("int16", "int8", 3, "int64"),
    ):
        inputs = (Operand((2, 8), each), constant((3, 8), weights, scales=scales), constant((3,), bias, scales=0))
        result = (Operand((2, 3), each),)
        name = f"{each}_{weights}_{scales}"
        yield OperatorCase("FULLY_CONNECTED", name, inputs, result, ("FullyConnectedOptions", {}))
        yield OperatorCase("FULLY_CONNECTED", f"{name}_no_bias", (*inputs[:2], None), result, _FULLY)


_FULLY: Final[Options] = ("FullyConnectedOptions", {})


def _svdf() -> Iterator[OperatorCase]:
    for each, weights, state, bias in (
        ("float32", "float32", "float32", "float32"),
        ("int8", "int8", "int16", "int32"),
        ("int8", "int8", "int8", "int32"),
    ):
        inputs = (
            Operand((1, 8), each),
            constant((4, 8), weights),
            constant((4, 5), state),
            constant((2,), bias, scales=0),
            Operand((1, 20), state, is_variable=True),
        )
        options = ("SVDFOptions", {"Rank": 2, "FusedActivationFunction": 1 if each == "int8" else 0})
        yield OperatorCase("SVDF", f"{each}_{state}", inputs, (Operand((1, 2), each),), options)


def _lstm() -> Iterator[OperatorCase]:
    for each, cell, bias in (
        ("float32", "float32", "float32"),
        ("int8", "int16", "int32"),
        ("int16", "int16", "int64"),
    ):
        weights = "float32" if each == "float32" else "int8"
        inputs: list[Operand | None] = [None] * 24
        inputs[0] = Operand((1, 3, 2), each)
        for number in range(1, 5):
            inputs[number] = constant((4, 2), weights)
            inputs[number + 4] = constant((4, 4), weights)
            inputs[number + 11] = constant((4,), bias, scales=0)
        inputs[18] = Operand((1, 4), each, is_variable=True)
        inputs[19] = Operand((1, 4), cell, is_variable=True, scale=2.0**-11)
        options = ("UnidirectionalSequenceLSTMOptions", {"FusedActivationFunction": 4})
        result = (Operand((1, 3, 4), each),)
        yield OperatorCase("UNIDIRECTIONAL_SEQUENCE_LSTM", each, tuple(inputs), result, options)


def _reductions() -> Iterator[OperatorCase]:
    kept = ("ReducerOptions", {"KeepDims": True})
    for name, types in (
        ("MEAN", ("float32", "int8", "int16")),
        ("SUM", ("float32", "int8", "int16")),
        ("REDUCE_MAX", ("float32", "int8")),
        ("REDUCE_MIN", ("float32", "int8")),
        ("REDUCE_ALL", ("bool",)),
    ):
        for each in types:
            result = (Operand((1, 1, 1, 2), each),)
            yield OperatorCase(name, each, (Operand(_IMAGE, each), integers(1, 2)), result, kept)
    for name in ("ARG_MAX", "ARG_MIN"):
        for each in ("float32", "int8"):
            options = (f"Arg{name[4:].title()}Options", {"OutputType": 2})
            inputs = (Operand((2, 6), each), scalar(1))
            yield OperatorCase(name, each, inputs, (Operand((2,), "int32"),), options)


def _pools() -> Iterator[OperatorCase]:
    window = _STRIDES | {"FilterWidth": 2, "FilterHeight": 2, "Padding": 1}
    options = ("Pool2DOptions", window)
    for name in ("AVERAGE_POOL_2D", "MAX_POOL_2D"):
        for each in ("float32", "int8", "int16"):
            yield OperatorCase(name, each, (Operand(_IMAGE, each),), (Operand((1, 3, 3, 2), each),), options)
    yield OperatorCase("L2_POOL_2D", "float32", (Operand(_IMAGE),), (Operand((1, 3, 3, 2)),), options)


def _moves() -> Iterator[OperatorCase]:
    for each in ("float32", "int8"):
        image = Operand(_IMAGE, each)
        row = Operand((2, 6), each)
        yield OperatorCase("RESHAPE", each, (row, integers(3, 4)), (Operand((3, 4), each),), ("ReshapeOptions", {}))
        yield OperatorCase("SQUEEZE", each, (image,), (Operand((4, 4, 2), each),), ("SqueezeOptions", {}))
        yield OperatorCase("EXPAND_DIMS", each, (row, scalar(0)), (Operand((1, 2, 6), each),))
        yield OperatorCase("TRANSPOSE", each, (row, integers(1, 0)), (Operand((6, 2), each),))
        yield OperatorCase(
            "CONCATENATION", each, (row, row), (Operand((2, 12), each),), ("ConcatenationOptions", {"Axis": 1})
        )
        yield OperatorCase("PACK", each, (row, row), (Operand((2, 2, 6), each),), ("PackOptions", {"ValuesCount": 2}))
        unpacked = (Operand((6,), each), Operand((6,), each))
        yield OperatorCase("UNPACK", each, (row,), unpacked, ("UnpackOptions", {"Num": 2}))
        halves = (Operand((2, 3), each), Operand((2, 3), each))
        yield OperatorCase("SPLIT", each, (scalar(1), row), halves, ("SplitOptions", {"NumSplits": 2}))
        parts = (Operand((2, 2), each), Operand((2, 4), each))
        options = ("SplitVOptions", {"NumSplits": 2})
        yield OperatorCase("SPLIT_V", each, (row, integers(2, 4), scalar(1)), parts, options)
        yield OperatorCase("SLICE", each, (row, integers(0, 1), integers(2, 3)), (Operand((2, 3), each),))
        slices = (row, integers(0, 1), integers(2, 5), integers(1, 2))
        yield OperatorCase("STRIDED_SLICE", each, slices, (Operand((2, 2), each),), ("StridedSliceOptions", {}))
        pads = Operand((2, 2), "int32", struct.pack("<4i", 0, 0, 1, 1))
        padded = (Operand((2, 8), each),)
        yield OperatorCase("PAD", each, (row, pads), padded)
        yield OperatorCase("PADV2", each, (row, pads, constant((1,), each)), padded)
        yield OperatorCase("MIRROR_PAD", each, (row, pads), padded, ("MirrorPadOptions", {}))
        yield OperatorCase("GATHER", each, (row, integers(1, 0, 1)), (Operand((3, 6), each),), ("GatherOptions", {}))
        places = Operand((2, 1), "int32", struct.pack("<2i", 0, 1))
        yield OperatorCase("GATHER_ND", each, (row, places), (Operand((2, 6), each),))
        yield OperatorCase(
            "DEPTH_TO_SPACE", each, (Operand((1, 2, 2, 4), each),), (Operand((1, 4, 4, 1), each),), _BLOCK_OUT
        )
        yield OperatorCase("SPACE_TO_DEPTH", each, (image,), (Operand((1, 2, 2, 8), each),), _BLOCK_IN)
        block, crops = integers(2, 2), Operand((2, 2), "int32", bytes(16))
        yield OperatorCase("SPACE_TO_BATCH_ND", each, (image, block, crops), (Operand((4, 2, 2, 2), each),))
        yield OperatorCase("BATCH_TO_SPACE_ND", each, (Operand((4, 2, 2, 2), each), block, crops), (image,))
        yield OperatorCase("BROADCAST_TO", each, (row, integers(3, 2, 6)), (Operand((3, 2, 6), each),))
        yield OperatorCase(
            "RESIZE_NEAREST_NEIGHBOR", each, (image, integers(8, 8)), (Operand((1, 8, 8, 2), each),), _NEAREST
        )
        yield OperatorCase("RESIZE_BILINEAR", each, (image, integers(8, 8)), (Operand((1, 8, 8, 2), each),), _BILINEAR)
        yield OperatorCase("REVERSE_V2", each, (row, integers(1)), (row,))
        update = (row, Operand((1, 3), each), integers(0, 1))
        yield OperatorCase("DYNAMIC_UPDATE_SLICE", each, update, (row,))
        choice = (Operand((2, 6), "bool"), row, row)
        yield OperatorCase("SELECT_V2", each, choice, (row,))
        yield OperatorCase("SHAPE", each, (row,), (Operand((2,), "int32"),), ("ShapeOptions", {"OutType": 2}))
        yield OperatorCase("CUMSUM", each, (row, scalar(1)), (row,), ("CumsumOptions", {}))
        yield OperatorCase("ZEROS_LIKE", "int32", (Operand((2, 6), "int32"),), (Operand((2, 6), "int32"),))


_BLOCK_OUT: Final = ("DepthToSpaceOptions", {"BlockSize": 2})
_BLOCK_IN: Final = ("SpaceToDepthOptions", {"BlockSize": 2})
_NEAREST: Final[Options] = ("ResizeNearestNeighborOptions", {})
_BILINEAR: Final[Options] = ("ResizeBilinearOptions", {})


def _others() -> Iterator[OperatorCase]:
    for each in ("float32", "int8", "int16"):
        left, right = Operand((1, 2, 4), each), Operand((1, 4, 3), each)
        result = (Operand((1, 2, 3), each),)
        yield OperatorCase("BATCH_MATMUL", each, (left, right), result, ("BatchMatMulOptions", {}))
        turned = (Operand((1, 4, 2), each), Operand((1, 3, 4), each))
        options = ("BatchMatMulOptions", {"AdjX": True, "AdjY": True})
        yield OperatorCase("BATCH_MATMUL", f"{each}_adjoint", turned, result, options)
    yield OperatorCase("SOFTMAX", "float32", (Operand((1, 6)),), (Operand((1, 6)),), ("SoftmaxOptions", {"Beta": 1.0}))
    fine = Operand((1, 6), "int8", scale=1 / 256, zero_point=-128)
    yield OperatorCase("SOFTMAX", "int8", (Operand((1, 6), "int8"),), (fine,), ("SoftmaxOptions", {"Beta": 1.0}))
    wide = Operand((1, 6), "int16", scale=1 / 32768)
    yield OperatorCase("SOFTMAX", "int16", (Operand((1, 6), "int16"),), (wide,), ("SoftmaxOptions", {"Beta": 1.0}))
    for name in ("FLOOR", "FLOOR_DIV", "FLOOR_MOD"):
        count = 1 if name == "FLOOR" else 2
        yield OperatorCase(name, "float32", (Operand((1, 6)),) * count, (Operand((1, 6)),))
    log = Operand((1, 6), "int8", scale=16 / 256, zero_point=127)
    yield OperatorCase("LOG_SOFTMAX", "int8", (Operand((1, 6), "int8"),), (log,))
    yield OperatorCase("LOG_SOFTMAX", "float32", (Operand((1, 6)),), (Operand((1, 6)),))
    for each in ("float32", "int8"):
        three = (Operand((1, 6), each),) * 3
        yield OperatorCase("ADD_N", each, three, (Operand((1, 6), each),))
    yield OperatorCase("QUANTIZE", "float32_int8", (Operand((1, 6)),), (Operand((1, 6), "int8"),))
    yield OperatorCase("QUANTIZE", "int8_int16", (Operand((1, 6), "int8"),), (Operand((1, 6), "int16"),))
    yield OperatorCase("DEQUANTIZE", "int8", (Operand((1, 6), "int8"),), (Operand((1, 6)),))
    yield OperatorCase("DEQUANTIZE", "int16", (Operand((1, 6), "int16"),), (Operand((1, 6)),))
    yield OperatorCase("CAST", "int8_float32", (Operand((1, 6), "int8"),), (Operand((1, 6)),), ("CastOptions", {}))
    yield OperatorCase("FILL", "float32", (integers(2, 3), constant(())), (Operand((2, 3)),))
    yield OperatorCase("BROADCAST_ARGS", "int32", (integers(1, 6), integers(2, 1)), (Operand((2,), "int32"),))
    looked_up = (Operand((2,), "int32"), constant((4, 3)))
    yield OperatorCase("EMBEDDING_LOOKUP", "float32", looked_up, (Operand((2, 3)),))
    for each in ("float32", "int8"):
        half = Operand((1, 6), each, scale=1 / 128) if each == "int8" else Operand((1, 6))
        yield OperatorCase("L2_NORMALIZATION", each, (Operand((1, 6), each),), (half,), ("L2NormOptions", {}))
    sigmoid = Operand((1, 6), "int8", scale=1 / 256, zero_point=-128)
    yield OperatorCase("LOGISTIC", "int8", (Operand((1, 6), "int8"),), (sigmoid,))
    yield OperatorCase("TANH", "int8", (Operand((1, 6), "int8"),), (Operand((1, 6), "int8", scale=1 / 128),))


SOUND: Final[tuple[OperatorCase, ...]] = (
    *_binary("ADD", "float32 int8 int16 int32", options=("AddOptions", {"PotScaleInt16": False})),
    *_binary("SUB", "float32 int8 int16 int32", options=("SubOptions", {"PotScaleInt16": False})),
    *_binary("MUL", "float32 int8 int16 int32", options=("MulOptions", {})),
    *_binary("DIV", "float32 int8", options=("DivOptions", {})),
    *_binary("MAXIMUM MINIMUM", "float32 int8 int32"),
    *_binary("SQUARED_DIFFERENCE PRELU", "float32 int8"),
    *_binary("EQUAL NOT_EQUAL GREATER GREATER_EQUAL LESS LESS_EQUAL", "float32 int8 int32", "bool"),
    *_binary("LOGICAL_AND LOGICAL_OR", "bool"),
    *_unary("RELU RELU6 HARD_SWISH ELU ABS RSQRT", "float32 int8"),
    *_unary("LEAKY_RELU", "float32 int8 int16", ("LeakyReluOptions", {})),
    *_unary("NEG EXP SIN COS LOG SQRT SQUARE CEIL ROUND LOGISTIC TANH", "float32"),
    *_unary("LOGICAL_NOT", "bool"),
    *_convolutions(),
    *_transposed_convolutions(),
    *_fully_connected(),
    *_svdf(),
    *_lstm(),
    *_reductions(),
    *_pools(),
    *_moves(),
    *_others(),
)
