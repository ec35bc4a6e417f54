// What FULLY_CONNECTED keeps, of the same size as TFLM's.
#pragma once

#include <cstdint>

namespace tflite {

struct OpDataFullyConnected {
  int32_t output_multiplier;
  int output_shift;
  int32_t* per_channel_output_multiplier;
  int32_t* per_channel_output_shift;
  bool is_per_channel;
  int others[7];
};

}  // namespace tflite
