// Structures that the headers of some releases show, and those of others keep to themselves. To be included behind the
// headers of the one at hand.
#pragma once

#include <cstddef>

#if __has_include("tensorflow/lite/micro/kernels/fully_connected.h")
#include "tensorflow/lite/micro/kernels/fully_connected.h"
#endif
#if __has_include("tensorflow/lite/micro/kernels/reduce.h")
#include "tensorflow/lite/micro/kernels/reduce.h"
#endif

// A name that tflite lacks is looked up here, and found without a definition.
struct OpDataFullyConnected;
struct OpDataReduce;

namespace tflite::shown {
using FullyConnected = OpDataFullyConnected;
using Reduce = OpDataReduce;
}  // namespace tflite::shown

namespace tflm {

// 0 for a structure without definition.
template <typename T, size_t bytes = sizeof(T)>
constexpr size_t ShownSize(int) {
  return bytes;
}
template <typename T>
constexpr size_t ShownSize(long) {
  return 0;
}

}  // namespace tflm
