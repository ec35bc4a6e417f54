// The operators of this library. Those of micro_ops.cc are for int8.
#pragma once

#include <cstdint>

#include "tensorflow/lite/c/common.h"

namespace tflite {

// NEG does what its input's first byte says, when it is one of these.
constexpr int8_t kFaults = 0x66;
constexpr int8_t kEndsEarly = 0x67;
constexpr int8_t kFails = 0x68;

TFLMRegistration Register_NEG();

// These compute nothing (sized_ops.cc).
TFLMRegistration Register_CONCATENATION();
TFLMRegistration Register_CONV_2D();
TFLMRegistration Register_FULLY_CONNECTED();
TFLMRegistration Register_GATHER_ND();
TFLMRegistration Register_MEAN();
TFLMRegistration Register_REDUCE_MAX();
TFLMRegistration Register_RELU6();
TFLMRegistration Register_SELECT_V2();
TFLMRegistration Register_STRIDED_SLICE();
TFLMRegistration Register_TRANSPOSE_CONV();

TFLMRegistration Register_VAR_HANDLE();
// Tells the profiler of an operator inside of it, as one does that calls another subgraph.
TFLMRegistration Register_READ_VARIABLE();
TFLMRegistration Register_ASSIGN_VARIABLE();

}  // namespace tflite
