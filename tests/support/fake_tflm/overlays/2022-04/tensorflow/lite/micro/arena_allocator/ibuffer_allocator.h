#pragma once

#include <cstddef>
#include <cstdint>

#include "tensorflow/lite/c/common.h"
#include "tensorflow/lite/micro/compatibility.h"

namespace tflite {

class INonPersistentBufferAllocator {
 public:
  virtual ~INonPersistentBufferAllocator() {}
  virtual TfLiteStatus ResizeBuffer(uint8_t* resizable_buf, size_t size, size_t alignment) = 0;
  virtual size_t GetNonPersistentUsedBytes() const = 0;

 private:
  TF_LITE_REMOVE_VIRTUAL_DELETE
};

class IPersistentBufferAllocator {
 public:
  virtual ~IPersistentBufferAllocator() {}
  virtual uint8_t* AllocatePersistentBuffer(size_t size, size_t alignment) = 0;
  virtual size_t GetPersistentUsedBytes() const = 0;

 private:
  TF_LITE_REMOVE_VIRTUAL_DELETE
};

}  // namespace tflite
