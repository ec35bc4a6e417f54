#pragma once

#include <cstdint>

#include "tensorflow/lite/c/builtin_op_data.h"

namespace tflite {

struct OpDataConv {
  TfLitePadding padding;
  int32_t padding_values[4];
  int32_t zero_points[3];
  int32_t* per_channel_output_multiplier;
  int32_t* per_channel_output_shift;
  int32_t output_multiplier;
  int output_shift;
  int32_t output_activation_min;
  int filter_buffer_index;
#ifdef USE_TFLM_COMPRESSION
  int weights_scratch_index;
  int bias_scratch_index;
#endif
};

}  // namespace tflite
