// TFLM of 2026-08 (tflite-micro 90b983c).
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>

#include "app/format_text.h"
#include "tensorflow/lite/micro/debug_log.h"
#include "tensorflow/lite/micro/memory_planner/greedy_memory_planner.h"
#include "tensorflow/lite/micro/micro_interpreter.h"
#include "tensorflow/lite/micro/micro_mutable_op_resolver.h"
#include "tensorflow/lite/micro/recording_micro_interpreter.h"
#include "tensorflow/lite/schema/schema_generated.h"
#include "tflm/storage.h"
#include "tflm/tensor.h"
#include "tflm/tflm.h"

// What is not of the public interface has been in one of these two, as alias or not, depending on the release.
namespace tflite::micro {}
namespace either {
using namespace tflite;
using namespace tflite::micro;
}  // namespace either

namespace tflm {
namespace {

// A streaming model's way to say "not yet": the run ends early, and that is no error (kTfLiteAbort in micro_context.h).
constexpr int kEndedEarly = 15;

// The only version of the schema that there has been since 2017; the headers' own name for it has moved about.
constexpr uint32_t kSchemaVersion = 3;

// TFLM's own objects come first into an arena. It does not check that they fit; those that record are the larger ones.
constexpr size_t kLeastArenaBytes = sizeof(either::RecordingSingleArenaBufferAllocator) +
                                    sizeof(either::GreedyMemoryPlanner) + sizeof(tflite::RecordingMicroAllocator) +
                                    alignof(std::max_align_t);

constexpr unsigned kMaxOperators = 1  // an array needs a length, even where nothing is registered
#define HARNESS_OPERATOR(call) +1
#include "operators.inc"
#undef HARNESS_OPERATOR
    ;
using Resolver = tflite::MicroMutableOpResolver<kMaxOperators>;

void AddOperators([[maybe_unused]] Resolver* ops) {
#define HARNESS_OPERATOR(call) ops->call;
#include "operators.inc"
#undef HARNESS_OPERATOR
}

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

// Nothing here is ever destroyed: an interpreter whose AllocateTensors has failed does not survive it.
Storage<Watch> watch_storage;
Storage<Resolver> resolver_storage;
Storage<tflite::MicroInterpreter> interpreter_storage[kMaxModels];
Watch* watch = nullptr;
Resolver* resolver = nullptr;
tflite::MicroInterpreter* interpreters[kMaxModels] = {};

// These lie in the arena.
tflite::MicroAllocator* allocator = nullptr;
const either::SingleArenaBufferAllocator* arena_allocator = nullptr;
const tflite::RecordingMicroAllocator* recorder = nullptr;

// As MicroAllocator::Create(arena, bytes) does it, which keeps to itself where head and tail can be read.
void CreateAllocator(uint8_t* arena, uint32_t arena_bytes) {
  auto* memory = either::SingleArenaBufferAllocator::Create(arena, arena_bytes);
  uint8_t* planner =
      memory->AllocatePersistentBuffer(sizeof(either::GreedyMemoryPlanner), alignof(either::GreedyMemoryPlanner));
  allocator = tflite::MicroAllocator::Create(memory, new (planner) either::GreedyMemoryPlanner());
  arena_allocator = memory;
}

void CreateRecordingAllocator(uint8_t* arena, uint32_t arena_bytes) {
  auto* recording = tflite::RecordingMicroAllocator::Create(arena, arena_bytes);
  allocator = recording;
  arena_allocator = recording->GetSimpleMemoryAllocator();
  recorder = recording;
}

// MicroResourceVariables::Create does not check that there is room. Each variable takes five words; three more are
// enough for the object around them and for alignment.
bool HasRoomForVariables(uint32_t count) {
  constexpr size_t kVariableBytes = 5 * sizeof(void*);
  return arena_allocator->GetAvailableMemory(alignof(std::max_align_t)) / kVariableBytes >= uint64_t{count} + 3;
}

struct Recorded {
  const char* name;
  tflite::RecordedAllocationType type;
};
constexpr Recorded kRecorded[] = {
    {"eval_tensors", tflite::RecordedAllocationType::kTfLiteEvalTensorData},
    {"persistent_tensors", tflite::RecordedAllocationType::kPersistentTfLiteTensorData},
    {"persistent_quantization", tflite::RecordedAllocationType::kPersistentTfLiteTensorQuantizationData},
    {"persistent_buffers", tflite::RecordedAllocationType::kPersistentBufferData},
    {"variables", tflite::RecordedAllocationType::kTfLiteTensorVariableBufferData},
    {"node_and_registration", tflite::RecordedAllocationType::kNodeAndRegistrationArray},
    {"op_data", tflite::RecordedAllocationType::kOpData},
};

// Types that have come since 2020.
const char* NewerTypeName(TfLiteType type) {
  switch (type) {
    case kTfLiteInt4:
      return "int4";
    case kTfLiteUInt16:
      return "uint16";
    case kTfLiteUInt32:
      return "uint32";
    case kTfLiteUInt64:
      return "uint64";
    default:
      return TypeName(type);
  }
}

Tensor DescribeNewer(const TfLiteTensor& tensor) {
  Tensor description = Describe(tensor);
  description.type = NewerTypeName(tensor.type);
  return description;
}

void LogLines(char* text) {
  while (*text != '\0') {
    const size_t length = strcspn(text, "\r\n");
    const size_t end = text[length] == '\0' ? length : length + 1;
    text[length] = '\0';
    if (length > 0) {
      Log(text);
    }
    text += end;
  }
}

}  // namespace

const char kGeneration[] = "2026-08";
const StructSize kStructSizes[] = {
    {"TfLiteType", sizeof(TfLiteType)},
    {"SingleArenaBufferAllocator", sizeof(either::SingleArenaBufferAllocator)},
    {"RecordingSingleArenaBufferAllocator", sizeof(either::RecordingSingleArenaBufferAllocator)},
    {"GreedyMemoryPlanner", sizeof(either::GreedyMemoryPlanner)},
    {"MicroAllocator", sizeof(tflite::MicroAllocator)},
    {"RecordingMicroAllocator", sizeof(tflite::RecordingMicroAllocator)},
    {"MicroResourceVariables", sizeof(tflite::MicroResourceVariables)},
    {"SubgraphAllocations", sizeof(either::SubgraphAllocations)},
    {"TfLiteEvalTensor", sizeof(TfLiteEvalTensor)},
    {"NodeAndRegistration", sizeof(tflite::NodeAndRegistration)},
    {"ScratchBufferHandle", sizeof(either::ScratchBufferHandle)},
    {"TfLiteTensor", sizeof(TfLiteTensor)},
    {"TfLiteAffineQuantization", sizeof(TfLiteAffineQuantization)},
};
const size_t kStructSizeCount = sizeof kStructSizes / sizeof kStructSizes[0];
const bool kRecords = true;
const bool kHasVariables = true;
const uint32_t kShareMax = kMaxModels;

bool SchemaIsSupported(const uint8_t* model) { return tflite::GetModel(model)->version() == kSchemaVersion; }

bool Create(const Model& model, uint8_t* arena, uint32_t arena_bytes, bool record) {
  if (arena_bytes < kLeastArenaBytes) {
    Log("The arena cannot hold TFLM's own allocator");
    return false;
  }
  if (record) {
    CreateRecordingAllocator(arena, arena_bytes);
  } else {
    CreateAllocator(arena, arena_bytes);
  }
  watch = new (watch_storage.bytes) Watch;
  resolver = new (resolver_storage.bytes) Resolver;
  AddOperators(resolver);
  return Share(model);
}

bool Share(const Model& model) {
  tflite::MicroResourceVariables* variables = nullptr;
  if (model.variables > 0) {
    if (!HasRoomForVariables(model.variables)) {
      Log("Failed to allocate resource variables: the arena is too small");
      return false;
    }
    variables = tflite::MicroResourceVariables::Create(allocator, static_cast<int>(model.variables));
  }
  interpreters[model.number] = new (interpreter_storage[model.number].bytes)
      tflite::MicroInterpreter(tflite::GetModel(model.data), *resolver, allocator, variables, watch);
  return interpreters[model.number]->initialization_status() == kTfLiteOk;
}

bool Allocate(uint32_t model) { return interpreters[model]->AllocateTensors() == kTfLiteOk; }

ArenaUsage Usage() {
  return {static_cast<uint32_t>(allocator->used_bytes()),
          static_cast<uint32_t>(arena_allocator->GetNonPersistentUsedBytes()),
          static_cast<uint32_t>(arena_allocator->GetPersistentUsedBytes())};
}

size_t SectionCount() { return recorder == nullptr ? 0 : sizeof kRecorded / sizeof kRecorded[0]; }

Section RecordedSection(size_t index) {
  const tflite::RecordedAllocation recorded = recorder->GetRecordedAllocation(kRecorded[index].type);
  return {kRecorded[index].name, static_cast<uint32_t>(recorded.requested_bytes),
          static_cast<uint32_t>(recorded.used_bytes), static_cast<uint32_t>(recorded.count)};
}

bool Invoke(uint32_t model) {
  watch->Restart();
  const int status = interpreters[model]->Invoke();
  return status == kTfLiteOk || status == kEndedEarly;
}

Running RunningOperator() { return watch == nullptr ? Running{-1, "", 0} : watch->running(); }

uint32_t InputCount(uint32_t model) { return static_cast<uint32_t>(interpreters[model]->inputs_size()); }
uint32_t OutputCount(uint32_t model) { return static_cast<uint32_t>(interpreters[model]->outputs_size()); }
Tensor Input(uint32_t model, uint32_t index) { return DescribeNewer(*interpreters[model]->input(index)); }
Tensor Output(uint32_t model, uint32_t index) { return DescribeNewer(*interpreters[model]->output(index)); }

}  // namespace tflm

// What TFLM expects of an application: its log, line by line, and the formatting of text.
extern "C" {

void DebugLog(const char* format, va_list arguments) {
  char text[256];
  harness::FormatText(text, sizeof text, format, arguments);
  tflm::LogLines(text);
}

int DebugVsnprintf(char* buffer, size_t size, const char* format, va_list arguments) {
  return static_cast<int>(harness::FormatText(buffer, size, format, arguments));
}
}
