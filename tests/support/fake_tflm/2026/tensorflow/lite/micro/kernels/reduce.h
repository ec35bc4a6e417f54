// What MEAN and its kin keep, of the same size as TFLM's.
#pragma once

#include <cstdint>

namespace tflite {

struct OpDataReduce {
  int32_t multiplier;
  int shift;
  int temp_buffer_idx;
  int scratch_accumulator_idx;
  int scratch_index_idx;
  int others[6];
};

}  // namespace tflite
