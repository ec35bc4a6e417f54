"""TFLM 2026-08, reference kernels: what each operator takes of the arena.

Sizes are those of TFLM's own structures; of two numbers the first is for 32-bit targets, the second for x86-64 as the
official Python wheel is built, with support for compressed tensors (see `layout.STRUCT_SIZES`). Steps follow each
kernel's Prepare (tensorflow/lite/micro/kernels/*.cc of tflite-micro 90b983c).
"""

from __future__ import annotations

from typing import Final

from harness.estimate.layout.rules import (
    INPUTS,
    OUTPUT,
    Node,
    OpRule,
    OpTable,
    Step,
    is_float,
    is_int8,
    is_int16,
    is_quantized,
    persistent,
    rule,
    scratch,
    temporary,
)


def _int4_filter(node: Node) -> bool:
    return node.type(1) == "int4"


def _shape_copy(node: Node) -> int:
    return node.out_shape_bytes


def per_channel(filter_input: int, dimension: int) -> tuple[Step, Step]:
    """Multipliers and shifts, one 32-bit number per output channel each."""
    array = persistent(lambda node: 4 * node.dim(filter_input, dimension))
    return array, array


def _transposed(number: int, condition: str, wanted: int) -> tuple[Step, ...]:
    """BATCH_MATMUL's transposed copy of an input: evaluation tensor, shape, contents."""

    def applies(node: Node) -> bool:
        return node.operator.option(condition) == wanted

    return (
        persistent((12, 24), applies),
        persistent(lambda node: 4 + 4 * node.rank(number), applies),
        persistent(lambda node: node.bytes(number), applies),
    )


UNPACKED_FILTER: Final = scratch(lambda node: node.elements(1), _int4_filter)
_ONE_IN: Final = temporary(0, OUTPUT)
_TWO_IN: Final = temporary(0, 1, OUTPUT)
_LAST_TEMPORARIES_OF_MEAN: Final = (temporary(0, 1), temporary(OUTPUT, when=is_int8))

BATCH_MATMUL_COPIES: Final = (*_transposed(0, "adj_x", 1), *_transposed(1, "adj_y", 0))
BATCH_MATMUL_SHAPE: Final = persistent(_shape_copy)
BATCH_MATMUL_QUANTIZATION: Final = persistent(28, is_quantized)


def _convolution(channel_dimension: int) -> OpRule:
    return rule(
        28,
        (56, 80),
        temporary(OUTPUT, 0, 1),
        *per_channel(1, channel_dimension),
        temporary(0, 1, 2, OUTPUT),
        UNPACKED_FILTER,
    )


def _mean() -> OpRule:
    return rule(
        1,
        44,
        temporary(0, OUTPUT, 1),
        scratch(lambda node: 4 * node.out_elements, is_quantized),
        scratch(lambda node: 4 * node.rank(0)),
        scratch(lambda node: 4 * node.elements(1)),
        *_LAST_TEMPORARIES_OF_MEAN,
        align=1,
    )


def _reduce_max() -> OpRule:
    return rule(
        1,
        44,
        *_LAST_TEMPORARIES_OF_MEAN,
        temporary(0, OUTPUT, 1),
        scratch(lambda node: 4 * node.rank(0)),
        scratch(lambda node: 4 * node.elements(1)),
        align=1,
    )


def _svdf_state(node: Node) -> int:
    return 4 * node.dim(0, 0) * node.dim(1, 0)


def _svdf_output(node: Node) -> int:
    return _svdf_state(node) // max(node.operator.option("rank"), 1)


def lstm_scratch(node: Node) -> int:
    """Bytes of one of the LSTM's gate buffers: batch times hidden units, in the cell state's type."""
    batch = node.dim(0, 1 if node.operator.option("time_major") else 0)
    cell_state = node.input(19)
    return batch * node.dim(18, 1) * (cell_state.element_bytes if cell_state else 0)


REFERENCE: Final[OpTable] = {
    "CONV_2D": _convolution(0),
    "DEPTHWISE_CONV_2D": _convolution(3),
    "TRANSPOSE_CONV": rule(
        20,
        (72, 88),
        temporary(OUTPUT, 2, 1),
        *per_channel(1, 0),
        scratch(lambda node: 4 * node.out_elements, lambda node: node.type(2) == "int8"),
        scratch(lambda node: 8 * node.out_elements, lambda node: node.type(2) == "int16"),
        temporary(2, 1, 3, OUTPUT, when=lambda node: node.type(2) != "float32"),
        scratch(lambda node: 8 * node.elements(3), lambda node: node.type(2) == node.type(3) == "int16"),
    ),
    "FULLY_CONNECTED": rule(
        (16, 32),
        (48, 72),
        temporary(0, 1, 2, OUTPUT),
        UNPACKED_FILTER,
        *[persistent(lambda node: 4 * node.channels(1), lambda node: not is_float(node) and node.channels(1) > 1)] * 2,
        align=(4, 8),
    ),
    "SVDF": rule(12, 36, temporary(0, 1, 2, 3, 4, OUTPUT), scratch(_svdf_state), scratch(_svdf_output, is_int8)),
    "UNIDIRECTIONAL_SEQUENCE_LSTM": rule(16, 688, temporary(INPUTS, OUTPUT), *[scratch(lstm_scratch)] * 4),
    "MEAN": _mean(),
    "SUM": _mean(),
    "REDUCE_MAX": _reduce_max(),
    "REDUCE_MIN": _reduce_max(),
    "REDUCE_ALL": _reduce_max(),
    "SOFTMAX": rule(4, (56, 80), _ONE_IN, *[persistent(1026, is_int16)] * 2),
    "ADD": rule(8, 60, _TWO_IN),
    "SUB": rule(8, 52, _TWO_IN),
    "MUL": rule(4, 36, _TWO_IN),
    "DIV": rule(4, 28, _TWO_IN),
    "ADD_N": rule(
        0,
        0,
        temporary(0, OUTPUT),
        *[temporary(number) for number in range(1, 24)],
        persistent(40, is_int8),
        scratch(lambda node: node.pointer_bytes * len(node.operator.inputs)),
    ),
    "AVERAGE_POOL_2D": rule(40, 32, _ONE_IN),
    "MAX_POOL_2D": rule(40, 32, _ONE_IN),
    "L2_POOL_2D": rule(40, 0, temporary(OUTPUT, 0), persistent(_shape_copy)),
    "RESHAPE": rule(
        36, 0, _ONE_IN, persistent(_shape_copy, lambda node: node.output is not None and node.output.shape_inferred)
    ),
    "GATHER": rule(8, 0, _TWO_IN, persistent(_shape_copy)),
    "GATHER_ND": rule(0, 0, _TWO_IN, persistent(_shape_copy)),
    "DEPTH_TO_SPACE": rule(4, 0, _ONE_IN, persistent(_shape_copy)),
    "SPACE_TO_DEPTH": rule(4, 0, _ONE_IN, persistent(_shape_copy)),
    "BATCH_MATMUL": rule(
        3, (16, 32), _TWO_IN, BATCH_MATMUL_QUANTIZATION, *BATCH_MATMUL_COPIES, BATCH_MATMUL_SHAPE, align=1
    ),
    "CONCATENATION": rule(8, (24, 80), temporary(0, OUTPUT, INPUTS)),
    "STRIDED_SLICE": rule(24, 84, temporary(0, 1, 2, 3, OUTPUT)),
    "PAD": rule(0, 56, temporary(INPUTS, OUTPUT)),
    "PADV2": rule(0, 56, temporary(INPUTS, OUTPUT)),
    "MIRROR_PAD": rule(4, 20, _TWO_IN, *[scratch(lambda node: 4 * node.rank(0))] * 2),
    "TANH": rule(0, 16, temporary(0, 0, OUTPUT)),
    "LOGISTIC": rule(0, 16, _ONE_IN),
    "HARD_SWISH": rule(0, 20, _ONE_IN),
    "ELU": rule(0, 256, _ONE_IN),
    "RELU": rule(0, 28, _ONE_IN),
    "RELU6": rule(0, 8, temporary(0)),
    "QUANTIZE": rule(0, 32, _ONE_IN),
    "DEQUANTIZE": rule(0, 32, _ONE_IN),
    "ABS": rule(0, 28, _ONE_IN),
    "RSQRT": rule(0, 28, _ONE_IN),
    "LEAKY_RELU": rule(4, 24, _ONE_IN),
    "L2_NORMALIZATION": rule(4, 4, _ONE_IN),
    "PRELU": rule(0, 28, _TWO_IN),
    "SQUARED_DIFFERENCE": rule(0, 112, _TWO_IN),
    **dict.fromkeys(
        ("EQUAL", "NOT_EQUAL", "GREATER", "GREATER_EQUAL", "LESS", "LESS_EQUAL"), rule(0, 32, temporary(0, 1))
    ),
    "LOG_SOFTMAX": rule(0, 0, _ONE_IN, persistent((28, 40), is_int8)),
    "CUMSUM": rule(2, 0, _TWO_IN, persistent(36, is_int8), align=1),
    "EMBEDDING_LOOKUP": rule(0, 0, _TWO_IN, persistent(_shape_copy), persistent((8, 16))),
    "SELECT_V2": rule(0, 1, temporary(0, 1, 2, OUTPUT)),
    "SPACE_TO_BATCH_ND": rule(0, 4, _ONE_IN),
    "BATCH_TO_SPACE_ND": rule(0, 0, _ONE_IN),
    "SPLIT": rule(4, 0, temporary(0)),
    "SPLIT_V": rule(4, 0, temporary(2)),
    "CAST": rule(8, 0, _ONE_IN),
    "SQUEEZE": rule(36, 0, _ONE_IN),
    **dict.fromkeys(
        ("EXP", "SIN", "COS", "LOG", "SQRT", "SQUARE", "LOGICAL_NOT", "CEIL", "ROUND", "ZEROS_LIKE"),
        rule(0, 0, _ONE_IN),
    ),
    "EXPAND_DIMS": rule(0, 0, _TWO_IN),
    "TRANSPOSE": rule(0, 0, _TWO_IN),
    "RESIZE_BILINEAR": rule(2, 0, _TWO_IN, align=1),
    "RESIZE_NEAREST_NEIGHBOR": rule(2, 0, _TWO_IN, align=1),
    "SLICE": rule(0, 0, temporary(0, 1, 2, OUTPUT)),
    "PACK": rule(8, 0),
    "UNPACK": rule(8, 0),
    "SHAPE": rule(4, 0),
    "ARG_MAX": rule(4, 0),
    "ARG_MIN": rule(4, 0),
    **dict.fromkeys(("MAXIMUM", "MINIMUM", "NEG", "FLOOR", "LOGICAL_AND", "LOGICAL_OR"), rule(0, 0)),
    **dict.fromkeys(
        ("BROADCAST_ARGS", "BROADCAST_TO", "FILL", "FLOOR_DIV", "FLOOR_MOD", "REVERSE_V2"), rule(0, 0, _TWO_IN)
    ),
    "DYNAMIC_UPDATE_SLICE": rule(0, 0, temporary(0, 1, 2, OUTPUT)),
    "IF": rule(8, 8, temporary(0)),
    "WHILE": rule(8, 8),
    "CALL_ONCE": rule(4, 8),
    "VAR_HANDLE": rule((8, 16), 4, align=(4, 8)),
    "READ_VARIABLE": rule(0, 0, temporary(0)),
    "ASSIGN_VARIABLE": rule(
        0, (0, 4), temporary(1), persistent(lambda node: node.bytes(1), lambda node: node.creates_variable)
    ),
}

CUSTOM_WITHOUT_RULE: Final = frozenset(
    """
    CIRCULAR_BUFFER TFLite_Detection_PostProcess ethos-u TFLM_DECODE SignalDelay SignalEnergy SignalFftAutoScale
    SignalFilterBank SignalFilterBankLog SignalFilterBankSpectralSubtraction SignalFilterBankSquareRoot SignalFramer
    SignalIrfft SignalOverlapAdd SignalPCAN SignalRfft SignalStacker SignalWindow
    """.split()  # noqa: SIM905 - a list of names reads better without quotes
)
"""Custom operators that come with this TFLM, but whose needs are not known."""
