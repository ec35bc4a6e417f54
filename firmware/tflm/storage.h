// Static storage without constructors or destructors: nothing runs before it is asked for, nothing at exit.
#pragma once

#include <cstdint>

namespace tflm {

template <typename T>
struct Storage {
  alignas(T) uint8_t bytes[sizeof(T)];
};

}  // namespace tflm
