// Options of operators as TFLM parses them, with members of the same sizes: they tell the generation.
#pragma once

#include "tensorflow/lite/c/common.h"

typedef struct {
  int padding, stride_width, stride_height, activation, dilation_width_factor, dilation_height_factor;
  TfLiteType quantized_bias_type;
} TfLiteConvParams;

typedef struct {
  int activation, weights_format;
  bool keep_num_dims, asymmetric_quantize_inputs;
  TfLiteType quantized_bias_type;
} TfLiteFullyConnectedParams;

typedef struct {
  int begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask;
  bool offset;
} TfLiteStridedSliceParams;

typedef struct {
  int padding, stride_width, stride_height, activation;
  TfLiteType quantized_bias_type;
} TfLiteTransposeConvParams;
