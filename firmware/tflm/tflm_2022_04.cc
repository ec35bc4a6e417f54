// TFLM from 2022-04-05 to 2022-09-19 (tflite-micro 45022bbbe to 95761fcfd): an error reporter goes into everything.
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <new>

#include "tensorflow/lite/c/builtin_op_data.h"
#include "tensorflow/lite/core/api/error_reporter.h"
#include "tensorflow/lite/micro/debug_log.h"
#include "tensorflow/lite/micro/memory_planner/greedy_memory_planner.h"
#include "tensorflow/lite/micro/micro_interpreter.h"
#include "tensorflow/lite/micro/micro_mutable_op_resolver.h"
#include "tensorflow/lite/micro/micro_resource_variable.h"
#include "tensorflow/lite/micro/recording_micro_allocator.h"
#include "tensorflow/lite/schema/schema_generated.h"
#include "tflm/log_lines.h"
#include "tflm/operators.h"
#include "tflm/storage.h"
#include "tflm/tflm.h"

namespace tflm {
namespace {

// The allocator has got its present name on 2022-07-07.
#if __has_include("tensorflow/lite/micro/arena_allocator/single_arena_buffer_allocator.h")
using Memory = tflite::SingleArenaBufferAllocator;
using RecordingMemory = tflite::RecordingSingleArenaBufferAllocator;
#else
using Memory = tflite::SimpleMemoryAllocator;
using RecordingMemory = tflite::RecordingSimpleMemoryAllocator;
#endif
using Planner = tflite::GreedyMemoryPlanner;
using tflite::ScratchBufferHandle;
using tflite::SubgraphAllocations;

class Reporter : public tflite::ErrorReporter {
 public:
  int Report(const char* format, va_list arguments) override {
    LogFormatted(format, arguments);
    return 0;
  }

 private:
  TF_LITE_REMOVE_VIRTUAL_DELETE
};

using KernelFunction = TfLiteStatus (*)(TfLiteContext*, TfLiteNode*);
TfLiteStatus InvokeWatched(TfLiteContext* context, TfLiteNode* node);

// TFLM tells only its profiler which operator it runs, and that has room for a thousand events. So each kernel that a
// model uses is called by way of a function that tells.
class Resolver : public MutableResolver {
 public:
  explicit Resolver(tflite::ErrorReporter* reporter) : MutableResolver(reporter) { AddOperators(this); }

  const TfLiteRegistration* FindOp(tflite::BuiltinOperator op) const override {
    return Watched(MutableResolver::FindOp(op));
  }

  const TfLiteRegistration* FindOp(const char* name) const override { return Watched(MutableResolver::FindOp(name)); }

  KernelFunction KernelOf(const TfLiteRegistration* registration) const {
    for (unsigned i = 0; i < count_; ++i) {
      if (kernels_[i].registration == registration) {
        return kernels_[i].invoke;
      }
    }
    return nullptr;
  }

 private:
  struct Kernel {
    const TfLiteRegistration* registration;
    KernelFunction invoke;
  };

  const TfLiteRegistration* Watched(const TfLiteRegistration* found) const {
    if (found != nullptr && found->invoke != nullptr && found->invoke != InvokeWatched) {
      kernels_[count_++] = {found, found->invoke};
      const_cast<TfLiteRegistration*>(found)->invoke = InvokeWatched;  // it is one of this object's own
    }
    return found;
  }

  mutable Kernel kernels_[kMaxOperators];
  mutable unsigned count_ = 0;

  TF_LITE_REMOVE_VIRTUAL_DELETE
};

Storage<Reporter> reporter_storage;
Storage<Resolver> resolver_storage;
Reporter* reporter = nullptr;
Resolver* resolver = nullptr;

// No pointers into the arena: it may be what is broken when somebody asks.
struct RunningKernel {
  const TfLiteRegistration* registration;
  KernelFunction function;
};
constexpr RunningKernel kNone{nullptr, nullptr};
RunningKernel running = kNone;
uint32_t started = 0;  // operators of the model's first subgraph, in this Invoke

// What an operator runs of other subgraphs counts as a part of it.
TfLiteStatus InvokeWatched(TfLiteContext* context, TfLiteNode* node) {
  static_assert(offsetof(tflite::NodeAndRegistration, node) == 0, "a node's address is that of its entry");
  const auto* entry = reinterpret_cast<const tflite::NodeAndRegistration*>(node);
  const KernelFunction function = resolver->KernelOf(entry->registration);
  if (running.registration != nullptr) {
    return function(context, node);
  }
  running = {entry->registration, function};
  ++started;
  OperatorStarts();
  const TfLiteStatus status = function(context, node);
  OperatorEnds();
  running = kNone;
  return status;
}

const char* NameOf(const TfLiteRegistration& registration) {
  return registration.builtin_code == tflite::BuiltinOperator_CUSTOM
             ? registration.custom_name
             : tflite::EnumNameBuiltinOperator(static_cast<tflite::BuiltinOperator>(registration.builtin_code));
}

void StartLibrary() {
  reporter = new (reporter_storage.bytes) Reporter;
  resolver = new (resolver_storage.bytes) Resolver(reporter);
}

void RestartWatch() {
  running = kNone;
  started = 0;
}

Memory* CreateMemory(uint8_t* arena, size_t arena_bytes) { return Memory::Create(reporter, arena, arena_bytes); }

tflite::MicroAllocator* CreateAllocator(Memory* memory, Planner* planner) {
  return tflite::MicroAllocator::Create(memory, planner, reporter);
}

tflite::RecordingMicroAllocator* CreateRecordingAllocator(uint8_t* arena, size_t arena_bytes) {
  return tflite::RecordingMicroAllocator::Create(arena, arena_bytes, reporter);
}

tflite::MicroInterpreter* CreateInterpreter(void* place, const tflite::Model* model, tflite::MicroAllocator* allocator,
                                            tflite::MicroResourceVariables* variables) {
  return new (place) tflite::MicroInterpreter(model, *resolver, allocator, reporter, variables);
}

}  // namespace

Running RunningOperator() {
  if (running.registration == nullptr) {
    return {-1, "", 0};
  }
  const auto function = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(running.function));
  return {static_cast<int32_t>(started) - 1, NameOf(*running.registration), function};
}

}  // namespace tflm

#include "tflm/recording.h"

// Kernels and MicroPrintf log by this, in pieces that end in a line's end.
extern "C" void DebugLog(const char* text) { tflm::LogLines(text); }
