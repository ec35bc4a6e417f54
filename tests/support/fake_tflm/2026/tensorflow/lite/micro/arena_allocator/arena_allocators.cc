#include <new>

#include "tensorflow/lite/micro/arena_allocator/recording_single_arena_buffer_allocator.h"
#include "tensorflow/lite/micro/arena_allocator/single_arena_buffer_allocator.h"
#include "tensorflow/lite/micro/micro_log.h"

namespace tflite {
namespace {

// Puts an allocator that manages an arena into the end of that arena.
template <typename Allocator>
Allocator* CreateInArena(uint8_t* buffer_head, size_t buffer_size) {
  Allocator outside(buffer_head, buffer_size);
  uint8_t* place = outside.AllocatePersistentBuffer(sizeof(Allocator), alignof(Allocator));
  return new (place) Allocator(outside);
}

}  // namespace

SingleArenaBufferAllocator::SingleArenaBufferAllocator(uint8_t* buffer, size_t buffer_size)
    : buffer_head_(buffer),
      buffer_tail_(buffer + buffer_size),
      head_(buffer),
      tail_(buffer + buffer_size),
      temp_(buffer),
      unused_{} {}

SingleArenaBufferAllocator::~SingleArenaBufferAllocator() {}

SingleArenaBufferAllocator* SingleArenaBufferAllocator::Create(uint8_t* buffer_head, size_t buffer_size) {
  return CreateInArena<SingleArenaBufferAllocator>(buffer_head, buffer_size);
}

TfLiteStatus SingleArenaBufferAllocator::ResizeBuffer(uint8_t* resizable_buf, size_t size, size_t) {
  const auto available = static_cast<size_t>(tail_ - resizable_buf);
  if (available < size) {
    MicroPrintf("Failed to resize buffer. Requested: %u, available %u, missing: %u", static_cast<unsigned>(size),
                static_cast<unsigned>(available), static_cast<unsigned>(size - available));
    return kTfLiteError;
  }
  head_ = resizable_buf + size;
  temp_ = head_;
  return kTfLiteOk;
}

uint8_t* SingleArenaBufferAllocator::AllocateTemp(size_t size, size_t alignment) {
  const size_t odd = reinterpret_cast<uintptr_t>(temp_) % alignment;
  uint8_t* place = odd == 0 ? temp_ : temp_ + alignment - odd;
  const size_t available = place < tail_ ? static_cast<size_t>(tail_ - place) : 0;
  if (available < size) {
    MicroPrintf("Failed to allocate temp memory. Requested: %u, available %u, missing: %u", static_cast<unsigned>(size),
                static_cast<unsigned>(available), static_cast<unsigned>(size - available));
    return nullptr;
  }
  temp_ = place + size;
  return place;
}

uint8_t* SingleArenaBufferAllocator::AllocatePersistentBuffer(size_t size, size_t alignment) {
  uint8_t* place = tail_ - size;
  place -= reinterpret_cast<uintptr_t>(place) % alignment;
  if (place < head_) {
    const auto missing = static_cast<unsigned>(head_ - place);
    MicroPrintf("Failed to allocate tail memory. Requested: %u, available %u, missing: %u", static_cast<unsigned>(size),
                static_cast<unsigned>(size) - missing, missing);
    return nullptr;
  }
  tail_ = place;
  return place;
}

size_t SingleArenaBufferAllocator::GetNonPersistentUsedBytes() const {
  return static_cast<size_t>(head_ - buffer_head_);
}

size_t SingleArenaBufferAllocator::GetPersistentUsedBytes() const { return static_cast<size_t>(buffer_tail_ - tail_); }

size_t SingleArenaBufferAllocator::GetAvailableMemory(size_t alignment) const {
  const auto available = static_cast<size_t>(tail_ - head_);
  return available - available % alignment;
}

size_t SingleArenaBufferAllocator::GetUsedBytes() const {
  return GetNonPersistentUsedBytes() + GetPersistentUsedBytes();
}

RecordingSingleArenaBufferAllocator::RecordingSingleArenaBufferAllocator(uint8_t* buffer_head, size_t buffer_size)
    : SingleArenaBufferAllocator(buffer_head, buffer_size), unused_{} {}

RecordingSingleArenaBufferAllocator::~RecordingSingleArenaBufferAllocator() {}

RecordingSingleArenaBufferAllocator* RecordingSingleArenaBufferAllocator::Create(uint8_t* buffer_head,
                                                                                 size_t buffer_size) {
  return CreateInArena<RecordingSingleArenaBufferAllocator>(buffer_head, buffer_size);
}

uint8_t* RecordingSingleArenaBufferAllocator::AllocatePersistentBuffer(size_t size, size_t alignment) {
  uint8_t* place = SingleArenaBufferAllocator::AllocatePersistentBuffer(size, alignment);
  if (place != nullptr) {
    requested_bytes_ += size;
    ++count_;
  }
  return place;
}

}  // namespace tflite
