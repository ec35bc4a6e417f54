#pragma once

#include "tensorflow/lite/micro/arena_allocator/single_arena_buffer_allocator.h"

namespace tflite {

class RecordingSingleArenaBufferAllocator : public SingleArenaBufferAllocator {
 public:
  RecordingSingleArenaBufferAllocator(uint8_t* buffer_head, size_t buffer_size);
  ~RecordingSingleArenaBufferAllocator() override;

  static RecordingSingleArenaBufferAllocator* Create(uint8_t* buffer_head, size_t buffer_size);

  size_t GetRequestedBytes() const { return requested_bytes_; }
  size_t GetAllocatedCount() const { return count_; }

  uint8_t* AllocatePersistentBuffer(size_t size, size_t alignment) override;

 private:
  size_t requested_bytes_ = 0;
  size_t count_ = 0;
  [[maybe_unused]] size_t unused_[2];

  TF_LITE_REMOVE_VIRTUAL_DELETE
};

}  // namespace tflite
