// The resolver with all operators that the firmware is to hold. To be included behind micro_mutable_op_resolver.h.
#pragma once

namespace tflm {

constexpr unsigned kMaxOperators = 1  // an array needs a length, even where nothing is registered
#define HARNESS_OPERATOR(call) +1
#include "operators.inc"
#undef HARNESS_OPERATOR
    ;
using MutableResolver = tflite::MicroMutableOpResolver<kMaxOperators>;

inline void AddOperators([[maybe_unused]] MutableResolver* ops) {
#define HARNESS_OPERATOR(call) ops->call;
#include "operators.inc"
#undef HARNESS_OPERATOR
}

}  // namespace tflm
