// The largest buffer first, each at the lowest offset where it is in nobody's way; of equals the last.
#pragma once

#include "tensorflow/lite/micro/compatibility.h"
#include "tensorflow/lite/micro/memory_planner/micro_memory_planner.h"

namespace tflite {

class GreedyMemoryPlanner : public MicroMemoryPlanner {
 public:
  GreedyMemoryPlanner();
  ~GreedyMemoryPlanner() override;

  TfLiteStatus Init(unsigned char* scratch_buffer, int scratch_buffer_size) override;
  TfLiteStatus AddBuffer(int size, int first_time_used, int last_time_used) override;
  size_t GetMaximumMemorySize() override;
  TfLiteStatus GetOffsetForBuffer(int buffer_index, int* offset) override;

 private:
  struct Buffer {
    int size;
    int first;
    int last;
    int offset;  // -1 until it has its place
    int unused[6];
  };

  Buffer* LargestWithoutPlace();
  int LowestOffset(const Buffer& buffer) const;
  void PlaceAll();

  Buffer* buffers_ = nullptr;
  int capacity_ = 0;
  int count_ = 0;
  [[maybe_unused]] int unused_[7];

  TF_LITE_REMOVE_VIRTUAL_DELETE
};

}  // namespace tflite
