#pragma once

#include <cstddef>

#include "tensorflow/lite/c/common.h"

namespace tflite {

class MicroMemoryPlanner {
 public:
  virtual ~MicroMemoryPlanner() {}
  virtual TfLiteStatus Init(unsigned char* scratch_buffer, int scratch_buffer_size) = 0;
  virtual TfLiteStatus AddBuffer(int size, int first_time_used, int last_time_used) = 0;
  virtual size_t GetMaximumMemorySize() = 0;
  virtual TfLiteStatus GetOffsetForBuffer(int buffer_index, int* offset) = 0;
};

}  // namespace tflite
