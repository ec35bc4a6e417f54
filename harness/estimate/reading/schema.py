"""The TensorFlow Lite schema's numbers in words: operators, element types, and the fields of the options tables.

Source: tensorflow/lite/schema/schema.fbs, as of TensorFlow 2.18.
"""

from __future__ import annotations

from functools import cache
from typing import Final, NamedTuple

OPERATOR_NAMES: Final = tuple(
    """
    ADD AVERAGE_POOL_2D CONCATENATION CONV_2D DEPTHWISE_CONV_2D DEPTH_TO_SPACE DEQUANTIZE EMBEDDING_LOOKUP FLOOR
    FULLY_CONNECTED HASHTABLE_LOOKUP L2_NORMALIZATION L2_POOL_2D LOCAL_RESPONSE_NORMALIZATION LOGISTIC
    LSH_PROJECTION LSTM MAX_POOL_2D MUL RELU RELU_N1_TO_1 RELU6 RESHAPE RESIZE_BILINEAR RNN SOFTMAX
    SPACE_TO_DEPTH SVDF TANH CONCAT_EMBEDDINGS SKIP_GRAM CALL CUSTOM EMBEDDING_LOOKUP_SPARSE PAD
    UNIDIRECTIONAL_SEQUENCE_RNN GATHER BATCH_TO_SPACE_ND SPACE_TO_BATCH_ND TRANSPOSE MEAN SUB DIV SQUEEZE
    UNIDIRECTIONAL_SEQUENCE_LSTM STRIDED_SLICE BIDIRECTIONAL_SEQUENCE_RNN EXP TOPK_V2 SPLIT LOG_SOFTMAX DELEGATE
    BIDIRECTIONAL_SEQUENCE_LSTM CAST PRELU MAXIMUM ARG_MAX MINIMUM LESS NEG PADV2 GREATER GREATER_EQUAL
    LESS_EQUAL SELECT SLICE SIN TRANSPOSE_CONV SPARSE_TO_DENSE TILE EXPAND_DIMS EQUAL NOT_EQUAL LOG SUM SQRT
    RSQRT SHAPE POW ARG_MIN FAKE_QUANT REDUCE_PROD REDUCE_MAX PACK LOGICAL_OR ONE_HOT LOGICAL_AND LOGICAL_NOT
    UNPACK REDUCE_MIN FLOOR_DIV REDUCE_ANY SQUARE ZEROS_LIKE FILL FLOOR_MOD RANGE RESIZE_NEAREST_NEIGHBOR
    LEAKY_RELU SQUARED_DIFFERENCE MIRROR_PAD ABS SPLIT_V UNIQUE CEIL REVERSE_V2 ADD_N GATHER_ND COS WHERE RANK
    ELU REVERSE_SEQUENCE MATRIX_DIAG QUANTIZE MATRIX_SET_DIAG ROUND HARD_SWISH IF WHILE NON_MAX_SUPPRESSION_V4
    NON_MAX_SUPPRESSION_V5 SCATTER_ND SELECT_V2 DENSIFY SEGMENT_SUM BATCH_MATMUL
    PLACEHOLDER_FOR_GREATER_OP_CODES CUMSUM CALL_ONCE BROADCAST_TO RFFT2D CONV_3D IMAG REAL COMPLEX_ABS
    HASHTABLE HASHTABLE_FIND HASHTABLE_IMPORT HASHTABLE_SIZE REDUCE_ALL CONV_3D_TRANSPOSE VAR_HANDLE
    READ_VARIABLE ASSIGN_VARIABLE BROADCAST_ARGS RANDOM_STANDARD_NORMAL BUCKETIZE RANDOM_UNIFORM MULTINOMIAL
    GELU DYNAMIC_UPDATE_SLICE RELU_0_TO_1 UNSORTED_SEGMENT_PROD UNSORTED_SEGMENT_MAX UNSORTED_SEGMENT_SUM ATAN2
    UNSORTED_SEGMENT_MIN SIGN BITCAST BITWISE_XOR RIGHT_SHIFT STABLEHLO_LOGISTIC STABLEHLO_ADD STABLEHLO_DIVIDE
    STABLEHLO_MULTIPLY STABLEHLO_MAXIMUM STABLEHLO_RESHAPE STABLEHLO_CLAMP STABLEHLO_CONCATENATE
    STABLEHLO_BROADCAST_IN_DIM STABLEHLO_CONVOLUTION STABLEHLO_SLICE STABLEHLO_CUSTOM_CALL STABLEHLO_REDUCE
    STABLEHLO_ABS STABLEHLO_AND STABLEHLO_COSINE STABLEHLO_EXPONENTIAL STABLEHLO_FLOOR STABLEHLO_LOG
    STABLEHLO_MINIMUM STABLEHLO_NEGATE STABLEHLO_OR STABLEHLO_POWER STABLEHLO_REMAINDER STABLEHLO_RSQRT
    STABLEHLO_SELECT STABLEHLO_SUBTRACT STABLEHLO_TANH STABLEHLO_SCATTER STABLEHLO_COMPARE STABLEHLO_CONVERT
    STABLEHLO_DYNAMIC_SLICE STABLEHLO_DYNAMIC_UPDATE_SLICE STABLEHLO_PAD STABLEHLO_IOTA STABLEHLO_DOT_GENERAL
    STABLEHLO_REDUCE_WINDOW STABLEHLO_SORT STABLEHLO_WHILE STABLEHLO_GATHER STABLEHLO_TRANSPOSE DILATE
    STABLEHLO_RNG_BIT_GENERATOR REDUCE_WINDOW STABLEHLO_COMPOSITE STABLEHLO_SHIFT_LEFT STABLEHLO_CBRT
    """.split()  # noqa: SIM905 - one name per number, readable as prose; a list would take 200 lines
)
"""Names of the builtin operators, by number."""


class ElementType(NamedTuple):
    """An element type: its name, and the bytes that TFLM counts for one element (0: TFLM knows no size)."""

    name: str
    size_bytes: int


ELEMENT_TYPES: Final = (
    ElementType("float32", 4),
    ElementType("float16", 2),
    ElementType("int32", 4),
    ElementType("uint8", 1),
    ElementType("int64", 8),
    ElementType("string", 0),
    ElementType("bool", 1),
    ElementType("int16", 2),
    ElementType("complex64", 8),
    ElementType("int8", 1),
    ElementType("float64", 8),
    ElementType("complex128", 16),
    ElementType("uint64", 8),
    ElementType("resource", 4),
    ElementType("variant", 0),
    ElementType("uint32", 4),
    ElementType("uint16", 2),
    ElementType("int4", 1),
    ElementType("bfloat16", 2),
)
"""Element types, by number."""


class OptionField(NamedTuple):
    """A field of an options table.

    Attributes:
        name: the schema's.
        kind: `i8`, `bool`, `i32`, `u32`, `f32`, `string` or `[i32]`.
        default: what an absent field means.
    """

    name: str
    kind: str
    default: int


@cache
def option_fields(options_type: int) -> tuple[OptionField, ...]:
    """The fields of an options table, in vtable order; empty for a type that no TFLM reads."""
    return tuple(_option_field(text) for text in _OPTIONS.get(options_type, "").split())


def _option_field(text: str) -> OptionField:
    name, _, kind = text.partition(":")
    kind, _, default = kind.partition("=")
    return OptionField(name, kind, int(default or 0))


_OPTIONS: Final = {
    1: "padding:i8 stride_w:i32 stride_h:i32 fused_activation_function:i8 dilation_w_factor:i32=1"
    " dilation_h_factor:i32=1 quantized_bias_type:i8",  # CONV_2D
    2: "padding:i8 stride_w:i32 stride_h:i32 depth_multiplier:i32 fused_activation_function:i8"
    " dilation_w_factor:i32=1 dilation_h_factor:i32=1",  # DEPTHWISE_CONV_2D
    5: "padding:i8 stride_w:i32 stride_h:i32 filter_width:i32 filter_height:i32"
    " fused_activation_function:i8",  # *_POOL_2D
    6: "rank:i32 fused_activation_function:i8 asymmetric_quantize_inputs:bool",  # SVDF
    8: "fused_activation_function:i8 weights_format:i8 keep_num_dims:bool asymmetric_quantize_inputs:bool"
    " quantized_bias_type:i8",  # FULLY_CONNECTED
    9: "beta:f32",  # SOFTMAX
    10: "axis:i32 fused_activation_function:i8",  # CONCATENATION
    11: "fused_activation_function:i8 pot_scale_int16:bool=1",  # ADD
    12: "fused_activation_function:i8",  # L2_NORMALIZATION
    15: "new_height_deprecated:i32 new_width_deprecated:i32 align_corners:bool"
    " half_pixel_centers:bool",  # RESIZE_BILINEAR
    17: "new_shape:[i32]",  # RESHAPE
    19: "block_size:i32",  # SPACE_TO_DEPTH
    21: "fused_activation_function:i8",  # MUL
    23: "axis:i32 batch_dims:i32",  # GATHER
    27: "keep_dims:bool",  # MEAN, SUM, REDUCE_*
    28: "fused_activation_function:i8 pot_scale_int16:bool=1",  # SUB
    29: "fused_activation_function:i8",  # DIV
    30: "squeeze_dims:[i32]",  # SQUEEZE
    32: "begin_mask:i32 end_mask:i32 ellipsis_mask:i32 new_axis_mask:i32 shrink_axis_mask:i32"
    " offset:bool",  # STRIDED_SLICE
    35: "num_splits:i32",  # SPLIT
    37: "in_data_type:i8 out_data_type:i8",  # CAST
    40: "output_type:i8",  # ARG_MAX
    49: "padding:i8 stride_w:i32 stride_h:i32 fused_activation_function:i8 quantized_bias_type:i8",  # TRANSPOSE_CONV
    55: "out_type:i8",  # SHAPE
    57: "output_type:i8",  # ARG_MIN
    59: "values_count:i32 axis:i32",  # PACK
    64: "num:i32 axis:i32",  # UNPACK
    71: "fused_activation_function:i8 cell_clip:f32 proj_clip:f32 time_major:bool asymmetric_quantize_inputs:bool"
    " diagonal_recurrent_tensors:bool",  # UNIDIRECTIONAL_SEQUENCE_LSTM
    74: "align_corners:bool half_pixel_centers:bool",  # RESIZE_NEAREST_NEIGHBOR
    75: "alpha:f32",  # LEAKY_RELU
    77: "mode:i8",  # MIRROR_PAD
    79: "num_splits:i32",  # SPLIT_V
    92: "then_subgraph_index:i32 else_subgraph_index:i32",  # IF
    93: "cond_subgraph_index:i32 body_subgraph_index:i32",  # WHILE
    94: "block_size:i32",  # DEPTH_TO_SPACE
    101: "adj_x:bool adj_y:bool asymmetric_quantize_inputs:bool",  # BATCH_MATMUL
    102: "exclusive:bool reverse:bool",  # CUMSUM
    103: "init_subgraph_index:i32",  # CALL_ONCE
    111: "container:string shared_name:string",  # VAR_HANDLE
}
"""The fields of each options table that a TFLM operator reads, in vtable order."""
