#pragma once

#include <cstddef>
#include <cstdint>

#include "tensorflow/lite/c/common.h"
#include "tensorflow/lite/micro/micro_allocator.h"

namespace tflite {

class MicroResourceVariables {
 public:
  static MicroResourceVariables* Create(MicroAllocator* allocator, int num_variables);

  // The number of a variable, made if there is none of that name; negative when there is no room for it.
  int CreateIdIfNoneFound(const char* container, const char* shared_name);
  // Gives a variable its memory, unless it has some.
  TfLiteStatus Allocate(int id, MicroAllocator* allocator, size_t bytes);
  void* Buffer(int id) { return variables_[id].buffer; }

 private:
  struct MicroResourceVariable {
    const char* container;
    const char* shared_name;
    void* buffer;
    size_t bytes;
    int8_t default_value;
  };

  MicroResourceVariables(MicroResourceVariable* variables, int max_count)
      : variables_(variables), max_count_(max_count), count_(0) {}

  MicroResourceVariable* variables_;
  int max_count_;
  int count_;
};

}  // namespace tflite
