#pragma once

#include <cstdint>

#include "tensorflow/lite/c/builtin_op_data.h"

namespace tflite {

struct OpDataReduce {
  int32_t multiplier;
  int shift;
  int temp_index_idx;
  int resolved_axis_idx;
  int scratch_accumulator_idx;
  int input_zp;
  float input_scale;
  int output_zp;
  float output_scale;
  int num_output_elements;
  int num_axis;
};

}  // namespace tflite
