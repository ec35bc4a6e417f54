"""Which shape each operator's outputs have, given its inputs' (tensorflow/lite/kernels/*.cc, Prepare)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import zip_longest
from typing import Final

from harness.estimate.shapes import moves
from harness.estimate.shapes.call import Call, Rule, Shape

_SAME_PADDING: Final = 0


def _unchanged(call: Call) -> tuple[Shape, ...]:
    return (call.shape(),)


def _as_before(call: Call) -> tuple[Shape, ...]:
    """Of outputs whose shape does not depend on the inputs' shapes."""
    return tuple(call.output(number).shape for number in range(len(call.operator.outputs)))


def _scalar_per_dimension(call: Call) -> tuple[Shape, ...]:
    return ((len(call.shape()),),)


def _broadcast(call: Call) -> tuple[Shape, ...]:
    """NumPy's rule: dimensions are aligned at the end, and one of size 1 is stretched."""
    result: list[int] = []
    for sizes in zip_longest(*(reversed(shape) for shape in call.shapes), fillvalue=1):
        stretched = {size for size in sizes if size != 1}
        if len(stretched) > 1:
            raise call.refused(f"its inputs' shapes {[list(shape) for shape in call.shapes]} do not match")
        result.append(stretched.pop() if stretched else 1)
    return (tuple(reversed(result)),)


def _windows(call: Call, filter_size: tuple[int, int]) -> tuple[int, int]:
    """Height and width that are left when a filter slides over input 0."""
    option = call.operator.option
    sizes = []
    for size, reach, axis in zip(call.shape(0, 4)[1:3], filter_size, "hw", strict=True):
        stride = max(option(f"stride_{axis}", 1), 1)
        span = (reach - 1) * option(f"dilation_{axis}_factor", 1) + 1
        left = size if option("padding") == _SAME_PADDING else size - span + 1
        if left <= 0:
            raise call.refused(f"its filter of {span} does not fit into {size}")
        sizes.append(-(-left // stride))
    return sizes[0], sizes[1]


def _conv(call: Call) -> tuple[Shape, ...]:
    channels_out, height, width, channels_in = call.shape(1, 4)
    if call.shape(0, 4)[3] % max(channels_in, 1):
        raise call.refused(f"its filter is for {channels_in} channels, not {call.shape()[3]}")
    return ((call.shape()[0], *_windows(call, (height, width)), channels_out),)


def _depthwise(call: Call) -> tuple[Shape, ...]:
    _, height, width, channels = call.shape(1, 4)
    if channels % max(call.shape(0, 4)[3], 1):
        raise call.refused(f"its filter is for {channels} channels, not {call.shape()[3]}")
    return ((call.shape()[0], *_windows(call, (height, width)), channels),)


def _pool(call: Call) -> tuple[Shape, ...]:
    batch, _, _, channels = call.shape(0, 4)
    size = call.operator.option("filter_height"), call.operator.option("filter_width")
    return ((batch, *_windows(call, size), channels),)


def _transpose_conv(call: Call) -> tuple[Shape, ...]:
    """What its operand says, where that is a constant; else the usual size, which TFLite's converters write there."""
    filter_shape, data = call.shape(1, 4), call.shape(2, 4)
    usual = [data[0], *(_stretched(call, axis) for axis in (1, 2)), filter_shape[0]]
    if not call.input(0).is_constant:
        return (tuple(usual),)
    wanted = call.constant(0)
    for axis, letter in ((1, "h"), (2, "w")):
        stride = max(call.operator.option(f"stride_{letter}", 1), 1)
        same = call.operator.option("padding") == _SAME_PADDING
        left = wanted[axis] if same else wanted[axis] - filter_shape[axis] + 1
        call.same(data[axis], -(-left // stride), "its output shape is a constant, made for another input size")
    call.same(data[0], wanted[0], "its output shape is a constant, made for another batch size")
    return (wanted,)


def _stretched(call: Call, axis: int) -> int:
    """Height (1) or width (2) of which a convolution makes that of input 2; without padding, the smallest such."""
    stride = max(call.operator.option("stride_h" if axis == 1 else "stride_w", 1), 1)
    size = call.shape(2, 4)[axis] * stride
    return size if call.operator.option("padding") == _SAME_PADDING else size + max(call.shape(1, 4)[axis] - stride, 0)


def _fully_connected(call: Call) -> tuple[Shape, ...]:
    units, depth = call.shape(1, 2)
    shape = call.shape()
    elements = math.prod(shape)
    if depth <= 0 or elements % depth or (call.operator.option("keep_num_dims") and shape[-1] != depth):
        raise call.refused(f"its weights take {depth} values at a time, which {list(shape)} does not give")
    return ((*shape[:-1], units) if call.operator.option("keep_num_dims") else (elements // depth, units),)


def _batch_matmul(call: Call) -> tuple[Shape, ...]:
    left, right = call.shape(0), call.shape(1)
    if min(len(left), len(right)) < 2:
        raise call.refused("it multiplies matrices, and has fewer than 2 dimensions")
    rows, inner = reversed(left[-2:]) if call.operator.option("adj_x") else left[-2:]
    other, columns = reversed(right[-2:]) if call.operator.option("adj_y") else right[-2:]
    call.same(inner, other, "its matrices do not match")
    batches = [size if size != 1 else twin for size, twin in zip_longest(left[-3::-1], right[-3::-1], fillvalue=1)]
    return ((*reversed(batches), rows, columns),)


def _svdf(call: Call) -> tuple[Shape, ...]:
    batch = call.shape(0, 2)[0]
    call.same(call.shape(0)[1], call.shape(1, 2)[1], "its weights take another number of values")
    call.same(call.shape(4, 2)[0], batch, "its state is a variable for another batch size")
    return ((batch, call.shape(1, 2)[0] // max(call.operator.option("rank"), 1)),)


def _lstm(call: Call) -> tuple[Shape, ...]:
    shape = call.shape(0, 3)
    batch = shape[1] if call.operator.option("time_major") else shape[0]
    call.same(call.shape(18, 2)[0], batch, "its state is a variable for another batch size")
    return ((*shape[:2], call.shape(18)[1]),)


def _broadcast_args(call: Call) -> tuple[Shape, ...]:
    return ((max(call.shape(0, 1)[0], call.shape(1, 1)[0]),),)


def _constant_shape(number: int) -> Rule:
    return lambda call: (call.constant(number),)


def _of(rule: Rule, names: str) -> Mapping[str, Rule]:
    return dict.fromkeys(names.split(), rule)


def _all(*groups: Mapping[str, Rule]) -> Mapping[str, Rule]:
    return {name: rule for group in groups for name, rule in group.items()}


SHAPE_RULES: Final[Mapping[str, Rule]] = _all(
    _of(
        _unchanged,
        "RELU RELU6 RELU_N1_TO_1 LOGISTIC TANH HARD_SWISH ELU GELU LEAKY_RELU SOFTMAX LOG_SOFTMAX L2_NORMALIZATION"
        " ABS NEG EXP LOG SIN COS SQRT RSQRT SQUARE CEIL FLOOR ROUND LOGICAL_NOT QUANTIZE DEQUANTIZE CAST CUMSUM"
        " ADD_N ZEROS_LIKE REVERSE_V2 DYNAMIC_UPDATE_SLICE",
    ),
    _of(
        _broadcast,
        "ADD SUB MUL DIV MAXIMUM MINIMUM SQUARED_DIFFERENCE PRELU EQUAL NOT_EQUAL GREATER GREATER_EQUAL LESS LESS_EQUAL"
        " LOGICAL_AND LOGICAL_OR SELECT_V2 FLOOR_DIV FLOOR_MOD POW",
    ),
    _of(_pool, "AVERAGE_POOL_2D MAX_POOL_2D L2_POOL_2D"),
    _of(moves.reduce, "MEAN SUM REDUCE_MAX REDUCE_MIN REDUCE_ALL REDUCE_ANY REDUCE_PROD"),
    _of(moves.arg, "ARG_MAX ARG_MIN"),
    _of(moves.pad, "PAD PADV2 MIRROR_PAD"),
    _of(moves.resize, "RESIZE_BILINEAR RESIZE_NEAREST_NEIGHBOR"),
    _of(_as_before, "VAR_HANDLE READ_VARIABLE ASSIGN_VARIABLE CALL_ONCE"),
    {
        "CONV_2D": _conv,
        "DEPTHWISE_CONV_2D": _depthwise,
        "TRANSPOSE_CONV": _transpose_conv,
        "FULLY_CONNECTED": _fully_connected,
        "BATCH_MATMUL": _batch_matmul,
        "SVDF": _svdf,
        "UNIDIRECTIONAL_SEQUENCE_LSTM": _lstm,
        "RESHAPE": moves.reshape,
        "SQUEEZE": moves.squeeze,
        "EXPAND_DIMS": moves.expand_dims,
        "TRANSPOSE": moves.transpose,
        "CONCATENATION": moves.concatenation,
        "SLICE": moves.slice_of,
        "STRIDED_SLICE": moves.strided_slice,
        "SPLIT": moves.split,
        "SPLIT_V": moves.split_v,
        "PACK": moves.pack,
        "UNPACK": moves.unpack,
        "GATHER": moves.gather,
        "GATHER_ND": moves.gather_nd,
        "DEPTH_TO_SPACE": moves.depth_to_space,
        "SPACE_TO_DEPTH": moves.space_to_depth,
        "SPACE_TO_BATCH_ND": moves.space_to_batch,
        "BATCH_TO_SPACE_ND": moves.batch_to_space,
        "EMBEDDING_LOOKUP": moves.embedding,
        "SHAPE": _scalar_per_dimension,
        "BROADCAST_ARGS": _broadcast_args,
        "FILL": _constant_shape(0),
        "BROADCAST_TO": _constant_shape(1),
    },
)
"""By operator. Operators that are missing here are refused by name when their inputs change shape."""


def output_shapes(call: Call) -> tuple[Shape, ...]:
    """The shapes of an operator's outputs.

    Raises:
        ModelError: its shape rule is not known, or its inputs do not suit it.
    """
    rule = SHAPE_RULES.get(call.operator.name)
    if rule is None:
        raise call.refused("the shape rule of this operator is not known")
    try:
        shapes = rule(call)
    except (ArithmeticError, IndexError, ValueError) as error:  # too few operands, outputs or dimensions for the rule
        raise call.refused("its inputs, options and outputs do not fit together") from error
    if len(shapes) != len(call.operator.outputs):
        raise call.refused(f"it has {len(call.operator.outputs)} outputs, and its rule gives {len(shapes)}")
    return shapes
