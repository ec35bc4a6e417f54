// What CONV_2D keeps: no more than tells the generation.
#pragma once

namespace tflite {

struct OpDataConv {
  int weights_scratch_index;
};

}  // namespace tflite
