// One arena: the head grows up from its start, the tail down from its end.
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

class SingleArenaBufferAllocator : public INonPersistentBufferAllocator, public IPersistentBufferAllocator {
 public:
  SingleArenaBufferAllocator(uint8_t* buffer, size_t buffer_size);
  ~SingleArenaBufferAllocator() override;

  // Lies itself at the arena's end.
  static SingleArenaBufferAllocator* Create(uint8_t* buffer_head, size_t buffer_size);

  TfLiteStatus ResizeBuffer(uint8_t* resizable_buf, size_t size, size_t alignment) override;
  uint8_t* AllocatePersistentBuffer(size_t size, size_t alignment) override;
  size_t GetNonPersistentUsedBytes() const override;
  size_t GetPersistentUsedBytes() const override;
  size_t GetAvailableMemory(size_t alignment) const;
  // Behind the head, until it is resized; null when there is no room.
  uint8_t* AllocateTemp(size_t size, size_t alignment);
  void ResetTempAllocations() { temp_ = head_; }
  size_t GetUsedBytes() const;
  // Where the head begins, and where the tail does.
  uint8_t* start() const { return buffer_head_; }
  uint8_t* tail() const { return tail_; }

  TF_LITE_REMOVE_VIRTUAL_DELETE

 private:
  uint8_t* buffer_head_;
  uint8_t* buffer_tail_;
  uint8_t* head_;
  uint8_t* tail_;
  uint8_t* temp_;
  // What the real one keeps besides, so that both have the same size.
  [[maybe_unused]] uintptr_t unused_[2];
};

}  // namespace tflite
