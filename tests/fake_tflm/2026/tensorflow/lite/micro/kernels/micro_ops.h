// The operators of this library. Both take one int8 tensor and give one of the same size.
#pragma once

#include <cstdint>

#include "tensorflow/lite/c/common.h"

namespace tflite {

// NEG does what its input's first byte says, when it is one of these.
constexpr int8_t kFaults = 0x66;
constexpr int8_t kEndsEarly = 0x67;
constexpr int8_t kFails = 0x68;

TFLMRegistration Register_NEG();

// COUNTER adds to its input how often it has run before, which it keeps in a resource variable. It tells the profiler of
// an operator inside of it.
TFLMRegistration* Register_COUNTER();

}  // namespace tflite
