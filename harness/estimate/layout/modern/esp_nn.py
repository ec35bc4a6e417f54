"""Operator tables of Espressif's kernels, ESP-NN: what differs from the reference kernels.

Sources: tensorflow/lite/micro/kernels/esp_nn/*.cc of esp-tflite-micro, and the esp_nn_get_*_scratch_size functions of
ESP-NN. They were read, not run. What the kernels for the ESP32-S3 ask for differs from version to version of ESP-NN:
theirs is an allowance, and models that have such kernels come with a warning.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from harness.domain.graph import Graph, operator_place
from harness.estimate.layout.arena import align_up
from harness.estimate.layout.modern.operators import UNPACKED_FILTER, per_channel
from harness.estimate.layout.rules import (
    OUTPUT,
    Node,
    OpTable,
    Scratch,
    Size,
    is_int8,
    is_int16,
    persistent,
    scratch,
    temporary,
    with_kernel,
)

GENERIC: Final = "esp-nn"
"""For cores without vector instructions: ESP32, ESP32-C3."""

ESP32_S3: Final = "esp-nn-s3"
"""For the vector instructions of the ESP32-S3."""

_CHANNELS_AT_ONCE: Final = 8
_POSITIONS_AT_ONCE: Final = 8
_POINTWISE_SPARE_BYTES: Final = 32
_SPARE_BYTES: Final = 64
_VARYING: Final = frozenset({"CONV_2D", "DEPTHWISE_CONV_2D"})


def _is_pointwise(node: Node) -> bool:
    """Whether a convolution only mixes channels; with stride 1 nothing is padded then."""
    strides = node.operator.option("stride_h"), node.operator.option("stride_w")
    return node.dim(1, 1) == node.dim(1, 2) == 1 and strides == (1, 1)


def _pointwise_scratch(node: Node) -> int:
    """The filter with its channels filled up, the input likewise, and the columns of some positions side by side."""
    channels, positions = align_up(node.dim(0, 3), _CHANNELS_AT_ONCE), node.dim(0, 1) * node.dim(0, 2)
    filter_bytes = channels * node.dim(1, 0)
    input_bytes = positions * channels if node.dim(0, 3) % _CHANNELS_AT_ONCE else 0
    column_bytes = 16 * channels if positions >= _POSITIONS_AT_ONCE else 0
    return filter_bytes + input_bytes + column_bytes + _POINTWISE_SPARE_BYTES


def _copies_scratch(node: Node) -> int:
    """Copies of input and filter, which padding and alignment make somewhat larger."""
    return node.bytes(0) + node.bytes(1) + _SPARE_BYTES


def _conv_scratch(node: Node) -> int:
    return _pointwise_scratch(node) if _is_pointwise(node) else _copies_scratch(node)


def _softmax_scratch(node: Node) -> int | None:
    """The kernel takes dimension 1 for the number of values in a row."""
    output = node.output
    return 4 * node.dim(0, 1) if is_int8(node) and output is not None and output.type == "int8" else None


def _int8_scratch(size: Size | None) -> tuple[Scratch, ...]:
    return () if size is None else (scratch(size, is_int8),)


def _table(reference: OpTable, conv_user_data: int, conv: Size | None = None, depthwise: Size | None = None) -> OpTable:
    """The kernels' rules, with what the two convolutions ask for on a core; None for nothing."""
    return {
        **reference,
        "CONV_2D": with_kernel(
            reference["CONV_2D"],
            conv_user_data,
            *(temporary(OUTPUT, 0, 1), *per_channel(1, 0), temporary(0, 1, 2, OUTPUT), UNPACKED_FILTER),
            *_int8_scratch(conv),
        ),
        "DEPTHWISE_CONV_2D": with_kernel(
            reference["DEPTHWISE_CONV_2D"],
            60,
            *(temporary(OUTPUT, 0, 1), *per_channel(1, 3), UNPACKED_FILTER, temporary(0, 1, 2, OUTPUT)),
            *_int8_scratch(depthwise),
        ),
        "SOFTMAX": with_kernel(
            reference["SOFTMAX"],
            60,
            temporary(0, OUTPUT),
            *[persistent(1026, is_int16)] * 2,
            scratch(_softmax_scratch),
        ),
    }


def esp_nn_tables(reference: OpTable, conv_user_data: int) -> Mapping[str, OpTable]:
    """The operator tables of a generation with ESP-NN, by kernel set.

    Args:
        reference: with reference kernels.
        conv_user_data: bytes that CONV_2D's Init asks for: 56 in esp-tflite-micro before 1.3.4, although it writes 60.
            Rounded up to 16, both are 64.
    """
    return {
        GENERIC: _table(reference, conv_user_data),
        ESP32_S3: _table(reference, conv_user_data, _conv_scratch, _copies_scratch),
    }


def varying_scratch(graph: Graph, kernels: str) -> tuple[str, ...]:
    """Where an estimate for ESP-NN promises no bytes: one sentence for the whole model."""
    places = [
        operator_place(subgraph, operator)
        for subgraph, operator in graph.operators()
        if operator.name in _VARYING and is_int8(Node(subgraph, operator, pointer_bytes=4))
    ]
    if kernels != ESP32_S3 or not places:
        return ()
    more = f" and {len(places) - 1} more" if len(places) > 1 else ""
    return (
        f"scratch differs from version to version of ESP-NN ({places[0]}{more}): the estimate is an allowance; run it "
        "on the device",
    )
