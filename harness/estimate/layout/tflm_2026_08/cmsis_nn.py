"""TFLM 2026-08 with CMSIS-NN, for cores with the DSP extension (Cortex-M4, M7, M33): what differs from the reference.

Sources: tensorflow/lite/micro/kernels/cmsis_nn/*.cc of tflite-micro 90b983c, and the *_get_buffer_size functions of the
CMSIS-NN it pins.
"""

from __future__ import annotations

from typing import Final

from harness.estimate.layout.arena import align_up
from harness.estimate.layout.rules import (
    INPUTS,
    OUTPUT,
    Node,
    OpTable,
    Step,
    dimension_of,
    is_float,
    is_int8,
    is_int16,
    is_quantized,
    persistent,
    rule,
    scratch,
    temporary,
)
from harness.estimate.layout.tflm_2026_08.operators import (
    BATCH_MATMUL_COPIES,
    BATCH_MATMUL_QUANTIZATION,
    BATCH_MATMUL_SHAPE,
    REFERENCE,
    lstm_scratch,
)

_SAME_PADDING: Final = 0


def _window(node: Node) -> int:
    """Elements that one filter covers in the input: filter height times filter width times input channels."""
    return node.dim(1, 1) * node.dim(1, 2) * node.dim(0, 3)


def _padding(node: Node, dimension: int, stride: str, dilation: str) -> int:
    """Padding before the input along height (1) or width (2), as TFLite computes it."""
    if node.operator.option("padding") != _SAME_PADDING:
        return 0
    reach = (node.dim(1, dimension) - 1) * node.operator.option(dilation, 1) + 1
    needed = (node.out_dim(dimension) - 1) * node.operator.option(stride, 1) + reach - node.dim(0, dimension)
    return max(needed, 0) // 2


def _padding_height(node: Node) -> int:
    return _padding(node, 1, "stride_h", "dilation_h_factor")


def _padding_width(node: Node) -> int:
    return _padding(node, 2, "stride_w", "dilation_w_factor")


def _undilated(node: Node) -> bool:
    return node.operator.option("dilation_h_factor", 1) == node.operator.option("dilation_w_factor", 1) == 1


def _is_pointwise(node: Node) -> bool:
    """Whether the convolution only mixes channels, which needs no copy of the input."""
    return (
        node.dim(1, 1) == node.dim(1, 2) == 1
        and node.dim(1, 3) == node.dim(0, 3)
        and _padding_height(node) == _padding_width(node) == 0
        and _undilated(node)
    )


def _conv_scratch(node: Node) -> int | None:
    if is_int8(node):
        return None if _is_pointwise(node) else 4 * align_up(_window(node), 4)
    if is_int16(node) and node.type(2) in {"int64", ""}:
        return 4 * _window(node)
    return None


def _depthwise_scratch(node: Node) -> int | None:
    fast = is_int8(node) and node.dim(0, 3) == node.out_dim(3) and node.dim(0, 0) == 1 and _undilated(node)
    if not fast:
        return None
    three_by_three = node.dim(1, 1) == node.dim(1, 2) == 3 and node.type(1) == "int8"
    if three_by_three and max(_padding_height(node), _padding_width(node)) <= 1:
        return None
    return 2 * _window(node)


def _fully_connected_scratch(node: Node) -> int | None:
    output = node.output
    as_convolution = is_int8(node) and output is not None and len(output.shape) > 2 and node.channels(1) <= 1
    return 8 * node.dim(1, 0) if as_convolution and dimension_of(node.input(1), -1) % 4 == 0 else None


def _transpose_conv_fits_fast(node: Node) -> bool:
    strides = node.operator.option("stride_h"), node.operator.option("stride_w")
    return max(strides) <= 2 and node.dim(2, 3) > 16


def _transpose_conv_first(node: Node) -> int:
    height, width, channels_in = node.dim(1, 1), node.dim(1, 2), node.dim(2, 3)
    if _transpose_conv_fits_fast(node):
        return 4 * align_up(height * width * channels_in, 4)
    stride_h, stride_w = node.operator.option("stride_h"), node.operator.option("stride_w")
    columns = (node.dim(2, 2) - 1) * stride_w + max(width, stride_w)
    return 4 * columns * node.out_dim(3) * max(height, stride_h)


def _transpose_conv_second(node: Node) -> int:
    reversed_filter = node.dim(2, 3) * node.dim(1, 1) * node.dim(1, 2) * node.out_dim(3)
    return reversed_filter if _transpose_conv_fits_fast(node) else 0


def _data_is(element_type: str, node: Node) -> bool:
    return node.type(2) == element_type


def _lstm_bias(node: Node) -> int:
    """Bytes of one gate's effective bias: 32-bit for 8-bit inputs, 64-bit for 16-bit ones."""
    return node.dim(18, 1) * (8 if is_int16(node) else 4)


def _convolution_steps(channel_dimension: int) -> tuple[Step, ...]:
    array = persistent(lambda node: 4 * node.dim(1, channel_dimension), is_quantized)
    return temporary(0, 1, OUTPUT), array, array, temporary(0, 1, 2, OUTPUT)


_PER_CHANNEL: Final = persistent(
    lambda node: 4 * node.channels(1), lambda node: not is_float(node) and node.channels(1) > 1
)
_CHANNEL: Final = persistent(lambda node: 4 * node.dim(1, 0))

CMSIS_NN: Final[OpTable] = {
    **REFERENCE,
    "CONV_2D": rule(28, 60, *_convolution_steps(0), scratch(_conv_scratch)),
    "DEPTHWISE_CONV_2D": rule(28, 60, *_convolution_steps(3), scratch(_depthwise_scratch)),
    "FULLY_CONNECTED": rule(
        16, 72, temporary(0, 1, 2, OUTPUT), _PER_CHANNEL, _PER_CHANNEL, scratch(_fully_connected_scratch)
    ),
    "AVERAGE_POOL_2D": rule(
        40, 36, temporary(0, OUTPUT, 0, OUTPUT), scratch(lambda node: 4 * node.dim(0, 3), is_quantized)
    ),
    "MAX_POOL_2D": rule(40, 36, temporary(0, OUTPUT)),
    "SOFTMAX": rule(4, 64, temporary(0, OUTPUT), *[persistent(1026, is_int16)] * 2),
    "SVDF": rule(12, 40, *REFERENCE["SVDF"].prepare),
    "TRANSPOSE_CONV": rule(
        20,
        76,
        temporary(OUTPUT, 2, 1),
        _CHANNEL,
        _CHANNEL,
        scratch(_transpose_conv_first, lambda node: _data_is("int8", node)),
        scratch(_transpose_conv_second, lambda node: _data_is("int8", node)),
        scratch(lambda node: 8 * node.out_elements, lambda node: _data_is("int16", node)),
        temporary(2, 1, 3, OUTPUT, when=lambda node: not _data_is("float32", node)),
        scratch(lambda node: 8 * node.elements(3), lambda node: node.type(2) == node.type(3) == "int16"),
    ),
    "UNIDIRECTIONAL_SEQUENCE_LSTM": rule(
        16,
        912,
        temporary(INPUTS, OUTPUT),
        *[persistent(_lstm_bias, is_quantized)] * 8,
        *[scratch(lstm_scratch)] * 3,
        scratch(lstm_scratch, lambda node: not is_quantized(node)),
    ),
    "BATCH_MATMUL": rule(
        3, 36, temporary(0, 1, OUTPUT), *BATCH_MATMUL_COPIES, BATCH_MATMUL_SHAPE, BATCH_MATMUL_QUANTIZATION, align=1
    ),
}
