// The operators of this library, all for int8.
#pragma once

#include <cstdint>

#include "tensorflow/lite/c/common.h"

namespace tflite {

// NEG does what its input's first byte says, when it is one of these.
constexpr int8_t kFaults = 0x66;
constexpr int8_t kEndsEarly = 0x67;
constexpr int8_t kFails = 0x68;

TFLMRegistration Register_NEG();

TFLMRegistration Register_VAR_HANDLE();
// Tells the profiler of an operator inside of it, as one does that calls another subgraph.
TFLMRegistration Register_READ_VARIABLE();
TFLMRegistration Register_ASSIGN_VARIABLE();

}  // namespace tflite
