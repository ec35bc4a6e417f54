#pragma once

#include <cstdint>

#include "tensorflow/lite/c/builtin_op_data.h"

namespace tflite {

struct OpDataFullyConnected {
  int32_t output_multiplier;
  int output_shift;
  int32_t output_activation_min;
  int32_t output_activation_max;
  int input_quantized_index;
  int32_t zero_points[3];
  int filter_buffer_index;
  int32_t* per_channel_output_multiplier;
  int32_t* per_channel_output_shift;
  bool is_per_channel;
};

}  // namespace tflite
