#pragma once

#include <cstdint>

#include "tensorflow/lite/micro/compatibility.h"

namespace tflite {

// Too large for a firmware: it keeps all events.
class MicroProfiler {
 public:
  MicroProfiler() = default;
  virtual ~MicroProfiler() = default;

  virtual uint32_t BeginEvent(const char* tag) {
    tags_[count_ % kMaxEvents] = tag;
    return count_++;
  }

  virtual void EndEvent(uint32_t) {}

 private:
  static constexpr uint32_t kMaxEvents = 1024;

  const char* tags_[kMaxEvents];
  int32_t start_ticks_[kMaxEvents];
  int32_t end_ticks_[kMaxEvents];
  uint32_t count_ = 0;

  TF_LITE_REMOVE_VIRTUAL_DELETE
};

}  // namespace tflite
