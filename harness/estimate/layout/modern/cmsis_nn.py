"""Operator tables with CMSIS-NN, for cores with the DSP extension (Cortex-M4, M7, M33): what differs from reference.

Sources: tensorflow/lite/micro/kernels/cmsis_nn/*.cc of tflite-micro, and the *_get_buffer_size functions of the
CMSIS-NN that each release pins. Built for speed, as upstream's Makefile does unless it is told otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from harness.estimate.layout.arena import align_up
from harness.estimate.layout.modern.operators import (
    BATCH_MATMUL_COPIES,
    BATCH_MATMUL_QUANTIZATION,
    BATCH_MATMUL_SHAPE,
    UNPACKED_FILTER,
    lstm_scratch,
)
from harness.estimate.layout.rules import (
    INPUTS,
    OUTPUT,
    Node,
    OpRule,
    OpTable,
    Size,
    Step,
    dimension_of,
    is_float,
    is_int8,
    is_int16,
    is_quantized,
    persistent,
    scratch,
    temporary,
    with_kernel,
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


def _conv_scratch(node: Node, block: int) -> int | None:
    """Columns of the input for the filter, 2 bytes an element, twice; CMSIS-NN fills them up to whole blocks."""
    if is_int8(node):
        return None if _is_pointwise(node) else 4 * align_up(_window(node), block)
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


def _runs_as_convolution(node: Node) -> bool:
    """Whether a fully connected layer is handed to the 1x1 convolution, which wants multipliers per channel."""
    output = node.output
    deep = output is not None and len(output.shape) > 2
    return is_int8(node) and deep and dimension_of(node.input(1), -1) % 4 == 0


def _fully_connected_scratch(node: Node) -> int | None:
    return 8 * node.dim(1, 0) if _runs_as_convolution(node) and node.channels(1) <= 1 else None


def _transpose_conv_fits_fast(node: Node) -> bool:
    strides = node.operator.option("stride_h"), node.operator.option("stride_w")
    return max(strides) <= 2 and node.dim(2, 3) > 16


def _transpose_conv_first(node: Node) -> int:
    height, width, channels_in = node.dim(1, 1), node.dim(1, 2), node.dim(2, 3)
    if _transpose_conv_fits_fast(node):
        return 4 * align_up(height * width * channels_in, 4)
    stride_h, stride_w = node.operator.option("stride_h"), node.operator.option("stride_w")
    # The filter's width is compared with the stride along the height until CMSIS-NN's change 243.
    columns = (node.dim(2, 2) - 1) * stride_w + max(width, stride_h)
    return 4 * columns * node.out_dim(3) * max(height, stride_h)


def _transpose_conv_products(node: Node) -> int:
    """An accumulator for every element of the filter at every place of the input: the whole buffer until V2.1."""
    return 4 * node.dim(1, 1) * node.dim(1, 2) * node.dim(2, 1) * node.dim(2, 2) * node.out_dim(3)


def _transpose_conv_accumulators(node: Node) -> int:
    """An accumulator for every output element of one image."""
    return 4 * node.out_dim(1) * node.out_dim(2) * node.out_dim(3)


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
_CHANNEL_AS_CONVOLUTION: Final = persistent(lambda node: 4 * node.dim(1, 0), _runs_as_convolution)


@dataclass(frozen=True)
class CmsisNn:
    """How the kernels of a generation and the CMSIS-NN that it pins differ from those of 2026-01.

    Attributes:
        fully_connected: bytes of FULLY_CONNECTED's user data.
        keeps_multipliers: whether a FULLY_CONNECTED that runs as a convolution keeps its multipliers in the tail
            (before 2024-09-27), and not in scratch.
        svdf: bytes of SVDF's user data.
        block: elements that a convolution's buffer is filled up to (4 since CMSIS-NN 58f17705).
        unpacks_int4: whether INT4 filters are unpacked into scratch (before 2023-11-14).
        transpose_conv: whether there is a kernel for TRANSPOSE_CONV (from 2023-11-07).
        accumulates: whether that kernel keeps all products and sums, and not columns of the input (before 2024-11-12).
        batch_matmul: whether there is a kernel for BATCH_MATMUL (from 2024-09-09).
    """

    fully_connected: int = 72
    keeps_multipliers: bool = False
    svdf: int = 40
    block: int = 4
    unpacks_int4: bool = False
    transpose_conv: bool = True
    accumulates: bool = False
    batch_matmul: bool = True


def cmsis_nn_table(reference: OpTable, differs: CmsisNn) -> OpTable:
    """The operator table of a generation with CMSIS-NN."""
    unpacked = (UNPACKED_FILTER,) if differs.unpacks_int4 else ()
    return {
        **reference,
        "CONV_2D": with_kernel(
            reference["CONV_2D"],
            60,
            *_convolution_steps(0),
            scratch(lambda node: _conv_scratch(node, differs.block)),
            *unpacked,
        ),
        "DEPTHWISE_CONV_2D": with_kernel(
            reference["DEPTHWISE_CONV_2D"], 60, *_convolution_steps(3), scratch(_depthwise_scratch), *unpacked
        ),
        "FULLY_CONNECTED": with_kernel(
            reference["FULLY_CONNECTED"], differs.fully_connected, *_fully_connected_steps(differs), *unpacked
        ),
        "AVERAGE_POOL_2D": with_kernel(
            reference["AVERAGE_POOL_2D"],
            36,
            *(temporary(0, OUTPUT, 0, OUTPUT), scratch(lambda node: 4 * node.dim(0, 3), is_quantized)),
        ),
        "MAX_POOL_2D": with_kernel(reference["MAX_POOL_2D"], 36, temporary(0, OUTPUT)),
        "SOFTMAX": with_kernel(reference["SOFTMAX"], 64, temporary(0, OUTPUT), *[persistent(1026, is_int16)] * 2),
        "SVDF": replace(reference["SVDF"], user_data=(differs.svdf, differs.svdf)),
        **_later_kernels(reference, differs),
    }


def _fully_connected_steps(differs: CmsisNn) -> tuple[Step, ...]:
    if differs.keeps_multipliers:
        return temporary(0, 1, 2, OUTPUT), _CHANNEL_AS_CONVOLUTION, _CHANNEL_AS_CONVOLUTION
    return temporary(0, 1, 2, OUTPUT), _PER_CHANNEL, _PER_CHANNEL, scratch(_fully_connected_scratch)


def _later_kernels(reference: OpTable, differs: CmsisNn) -> dict[str, OpRule]:
    """Those that came in 2023 and 2024; before, the reference kernels run."""
    kernels = {}
    if differs.transpose_conv:
        columns = _transpose_conv_first, _transpose_conv_second
        sums = _transpose_conv_products, _transpose_conv_accumulators
        steps = _transpose_conv_steps(*(sums if differs.accumulates else columns))
        kernels["TRANSPOSE_CONV"] = with_kernel(reference["TRANSPOSE_CONV"], 76, *steps)
    if differs.batch_matmul:
        kernels["BATCH_MATMUL"] = with_kernel(
            reference["BATCH_MATMUL"],
            36,
            *(temporary(0, 1, OUTPUT), *BATCH_MATMUL_COPIES, BATCH_MATMUL_SHAPE, BATCH_MATMUL_QUANTIZATION),
        )
    if "UNIDIRECTIONAL_SEQUENCE_LSTM" in reference:
        kernels["UNIDIRECTIONAL_SEQUENCE_LSTM"] = with_kernel(
            reference["UNIDIRECTIONAL_SEQUENCE_LSTM"],
            912,
            temporary(INPUTS, OUTPUT),
            *[persistent(_lstm_bias, is_quantized)] * 8,
            *[scratch(lstm_scratch)] * 3,
            scratch(lstm_scratch, lambda node: not is_quantized(node)),
        )
    return kernels


def _transpose_conv_steps(first: Size, second: Size) -> tuple[Step, ...]:
    return (
        temporary(OUTPUT, 2, 1),
        _CHANNEL,
        _CHANNEL,
        scratch(first, lambda node: _data_is("int8", node)),
        scratch(second, lambda node: _data_is("int8", node)),
        scratch(lambda node: 8 * node.out_elements, lambda node: _data_is("int16", node)),
        temporary(2, 1, 3, OUTPUT, when=lambda node: not _data_is("float32", node)),
        scratch(lambda node: 8 * node.elements(3), lambda node: node.type(2) == node.type(3) == "int16"),
    )
