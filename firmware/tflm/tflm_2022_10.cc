// TFLM since 2022-10-19 (tflite-micro 21bd77c62), which took the error reporter out of it.
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <new>

#include "app/format_text.h"
#include "tensorflow/lite/c/builtin_op_data.h"
#include "tensorflow/lite/micro/debug_log.h"
#include "tensorflow/lite/micro/memory_planner/greedy_memory_planner.h"
#include "tensorflow/lite/micro/micro_interpreter.h"
#include "tensorflow/lite/micro/micro_mutable_op_resolver.h"
#include "tensorflow/lite/micro/recording_micro_interpreter.h"
#include "tensorflow/lite/schema/schema_generated.h"
#include "tflm/log_lines.h"
#include "tflm/operators.h"
#include "tflm/storage.h"
#include "tflm/tflm.h"

// What is not of the public interface has been in one of these two, as alias or not, depending on the release.
namespace tflite::micro {}
namespace either {
using namespace tflite;
using namespace tflite::micro;
}  // namespace either

namespace tflm {
namespace {

using Memory = either::SingleArenaBufferAllocator;
using RecordingMemory = either::RecordingSingleArenaBufferAllocator;
using Planner = either::GreedyMemoryPlanner;
using either::ScratchBufferHandle;
using either::SubgraphAllocations;

// TFLM tells its profiler where the Invoke of each operator begins and ends; not so its Prepare, and a library without
// error strings tells nothing at all. What an operator runs of other subgraphs lies in between, and counts as a part of
// it.
class Watch : public either::MicroProfilerInterface {
 public:
  void Restart() {
    depth_ = 0;
    count_ = 0;
  }

  uint32_t BeginEvent(const char* name) override {
    if (depth_++ == 0) {
      name_ = name;
      ++count_;
      OperatorStarts();
    }
    return 0;
  }

  void EndEvent(uint32_t) override {
    if (depth_ == 1) {
      OperatorEnds();
    }
    --depth_;
  }

  Running running() const {
    return depth_ == 0 ? Running{-1, "", 0} : Running{static_cast<int32_t>(count_) - 1, name_, 0};
  }

 private:
  uint32_t depth_ = 0;
  uint32_t count_ = 0;
  const char* name_ = "";

  TF_LITE_REMOVE_VIRTUAL_DELETE
};

Storage<Watch> watch_storage;
Storage<MutableResolver> resolver_storage;
Watch* watch = nullptr;
MutableResolver* resolver = nullptr;

void StartLibrary() {
  watch = new (watch_storage.bytes) Watch;
  resolver = new (resolver_storage.bytes) MutableResolver;
  AddOperators(resolver);
}

void RestartWatch() { watch->Restart(); }

Memory* CreateMemory(uint8_t* arena, size_t arena_bytes) { return Memory::Create(arena, arena_bytes); }

tflite::MicroAllocator* CreateAllocator(Memory* memory, Planner* planner) {
  return tflite::MicroAllocator::Create(memory, planner);
}

tflite::RecordingMicroAllocator* CreateRecordingAllocator(uint8_t* arena, size_t arena_bytes) {
  return tflite::RecordingMicroAllocator::Create(arena, arena_bytes);
}

tflite::MicroInterpreter* CreateInterpreter(void* place, const tflite::Model* model, tflite::MicroAllocator* allocator,
                                            tflite::MicroResourceVariables* variables) {
  return new (place) tflite::MicroInterpreter(model, *resolver, allocator, variables, watch);
}

}  // namespace

Running RunningOperator() { return watch == nullptr ? Running{-1, "", 0} : watch->running(); }

}  // namespace tflm

#include "tflm/recording.h"

// What TFLM expects of an application: its log, and the formatting of text.
extern "C" {

#ifdef HARNESS_LOGS_PLAIN_TEXT  // until 2023-07-06 TFLM formatted by itself
void DebugLog(const char* text) { tflm::LogLines(text); }
#else
void DebugLog(const char* format, va_list arguments) { tflm::LogFormatted(format, arguments); }
#endif

int DebugVsnprintf(char* buffer, size_t size, const char* format, va_list arguments) {
  return static_cast<int>(harness::FormatText(buffer, size, format, arguments));
}
}
