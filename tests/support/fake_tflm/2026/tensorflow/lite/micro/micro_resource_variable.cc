#include "tensorflow/lite/micro/micro_resource_variable.h"

#include <cstring>
#include <new>

#include "tensorflow/lite/micro/micro_log.h"

namespace tflite {

MicroResourceVariables* MicroResourceVariables::Create(MicroAllocator* allocator, int num_variables) {
  void* place = allocator->AllocatePersistentBuffer(sizeof(MicroResourceVariables));
  void* variables =
      allocator->AllocatePersistentBuffer(static_cast<size_t>(num_variables) * sizeof(MicroResourceVariable));
  return new (place) MicroResourceVariables(static_cast<MicroResourceVariable*>(variables), num_variables);
}

int MicroResourceVariables::CreateIdIfNoneFound(const char* container, const char* shared_name) {
  for (int id = 0; id < count_; ++id) {
    if (strcmp(variables_[id].container, container) == 0 && strcmp(variables_[id].shared_name, shared_name) == 0) {
      return id;
    }
  }
  if (count_ == max_count_) {
    MicroPrintf("Failed to allocate resource variable. Maximum resource variable count (%d) reached.", max_count_);
    return -1;
  }
  variables_[count_] = {container, shared_name, nullptr, 0, 0};
  return count_++;
}

TfLiteStatus MicroResourceVariables::Allocate(int id, MicroAllocator* allocator, size_t bytes) {
  if (variables_[id].buffer == nullptr) {
    variables_[id].bytes = bytes;
    variables_[id].buffer = allocator->AllocatePersistentBuffer(bytes);
    if (variables_[id].buffer == nullptr) {
      return kTfLiteError;
    }
    memset(variables_[id].buffer, variables_[id].default_value, bytes);
  }
  return kTfLiteOk;
}

}  // namespace tflite
