#include "tensorflow/lite/micro/memory_planner/greedy_memory_planner.h"

#include "tensorflow/lite/micro/micro_log.h"

namespace tflite {

GreedyMemoryPlanner::GreedyMemoryPlanner() : unused_{} {}

GreedyMemoryPlanner::~GreedyMemoryPlanner() {}

TfLiteStatus GreedyMemoryPlanner::Init(unsigned char* scratch_buffer, int scratch_buffer_size) {
  buffers_ = reinterpret_cast<Buffer*>(scratch_buffer);
  capacity_ = scratch_buffer_size / static_cast<int>(sizeof(Buffer));
  count_ = 0;
  return kTfLiteOk;
}

TfLiteStatus GreedyMemoryPlanner::AddBuffer(int size, int first_time_used, int last_time_used) {
  if (count_ >= capacity_) {
    MicroPrintf("Too many buffers (max is %d)", capacity_);
    return kTfLiteError;
  }
  buffers_[count_++] = {size, first_time_used, last_time_used, -1, {}};
  return kTfLiteOk;
}

size_t GreedyMemoryPlanner::GetMaximumMemorySize() {
  PlaceAll();
  int end = 0;
  for (int i = 0; i < count_; ++i) {
    end = buffers_[i].offset + buffers_[i].size > end ? buffers_[i].offset + buffers_[i].size : end;
  }
  return static_cast<size_t>(end);
}

TfLiteStatus GreedyMemoryPlanner::GetOffsetForBuffer(int buffer_index, int* offset) {
  PlaceAll();
  *offset = buffers_[buffer_index].offset;
  return kTfLiteOk;
}

GreedyMemoryPlanner::Buffer* GreedyMemoryPlanner::LargestWithoutPlace() {
  Buffer* largest = nullptr;
  for (int i = 0; i < count_; ++i) {
    if (buffers_[i].offset < 0 && (largest == nullptr || buffers_[i].size >= largest->size)) {
      largest = &buffers_[i];
    }
  }
  return largest;
}

// Tries offset 0 and then the end of whatever is in the way, until nothing is.
int GreedyMemoryPlanner::LowestOffset(const Buffer& buffer) const {
  int offset = 0;
  for (int i = 0; i < count_; ++i) {
    const Buffer& other = buffers_[i];
    const bool together = other.first <= buffer.last && buffer.first <= other.last;
    if (other.offset >= 0 && together && offset < other.offset + other.size && other.offset < offset + buffer.size) {
      offset = other.offset + other.size;
      i = -1;
    }
  }
  return offset;
}

void GreedyMemoryPlanner::PlaceAll() {
  for (Buffer* buffer = LargestWithoutPlace(); buffer != nullptr; buffer = LargestWithoutPlace()) {
    buffer->offset = LowestOffset(*buffer);
  }
}

}  // namespace tflite
