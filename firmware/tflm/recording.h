// What the layers over TFLM since 2022 share: all but names and arguments. A layer includes it once, behind TFLM's
// headers and what differs:
//   Memory, RecordingMemory, Planner, SubgraphAllocations, ScratchBufferHandle    classes of TFLM
//   CreateMemory, CreateAllocator, CreateRecordingAllocator, CreateInterpreter    objects of TFLM
//   StartLibrary, RestartWatch                                                    before any of them; before each
//   Invoke
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>

#include "tflm/shown_structs.h"
#include "tflm/storage.h"
#include "tflm/tensor.h"
#include "tflm/tflm.h"

namespace tflm {
namespace {

// The only version of the schema that there has been since 2017; the headers' own name for it has moved about.
constexpr uint32_t kSchemaVersion = 3;

// A streaming model's way to say "not yet": the run ends early, and that is no error. kTfLiteAbort in micro_context.h,
// and, in releases of 2022, in circular_buffer.cc.
constexpr int kEndedEarly = 15;
constexpr int kEndedEarlyIn2022 = -9;

// TFLM's own objects come first into an arena. It does not check that they fit; those that record are the larger ones.
constexpr size_t kLeastArenaBytes =
    sizeof(RecordingMemory) + sizeof(Planner) + sizeof(tflite::RecordingMicroAllocator) + alignof(std::max_align_t);

// Nothing here is ever destroyed: an interpreter whose AllocateTensors has failed does not survive it.
Storage<tflite::MicroInterpreter> interpreter_storage[kMaxModels];
tflite::MicroInterpreter* interpreters[kMaxModels] = {};

// These lie in the arena.
tflite::MicroAllocator* allocator = nullptr;
const Memory* arena_memory = nullptr;
const tflite::RecordingMicroAllocator* recorder = nullptr;

// As MicroAllocator::Create(arena, bytes) does it, which keeps to itself where head and tail can be read.
void CreatePlain(uint8_t* arena, uint32_t arena_bytes) {
  Memory* memory = CreateMemory(arena, arena_bytes);
  uint8_t* planner = memory->AllocatePersistentBuffer(sizeof(Planner), alignof(Planner));
  allocator = CreateAllocator(memory, new (planner) Planner());
  arena_memory = memory;
}

void CreateRecording(uint8_t* arena, uint32_t arena_bytes) {
  tflite::RecordingMicroAllocator* recording = CreateRecordingAllocator(arena, arena_bytes);
  allocator = recording;
  arena_memory = recording->GetSimpleMemoryAllocator();
  recorder = recording;
}

// MicroResourceVariables::Create does not check that there is room. Each variable takes five words at most; three more
// are enough for the object around them and for alignment.
bool HasRoomForVariables(uint32_t count) {
  constexpr size_t kVariableBytes = 5 * sizeof(void*);
  return arena_memory->GetAvailableMemory(alignof(std::max_align_t)) / kVariableBytes >= uint64_t{count} + 3;
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

}  // namespace

// The allocators have the names of today, which the host knows them by.
const StructSize kStructSizes[] = {
    {"TfLiteType", sizeof(TfLiteType)},
    {"SingleArenaBufferAllocator", sizeof(Memory)},
    {"RecordingSingleArenaBufferAllocator", sizeof(RecordingMemory)},
    {"GreedyMemoryPlanner", sizeof(Planner)},
    {"MicroAllocator", sizeof(tflite::MicroAllocator)},
    {"RecordingMicroAllocator", sizeof(tflite::RecordingMicroAllocator)},
    {"MicroResourceVariables", sizeof(tflite::MicroResourceVariables)},
    {"SubgraphAllocations", sizeof(SubgraphAllocations)},
    {"TfLiteEvalTensor", sizeof(TfLiteEvalTensor)},
    {"NodeAndRegistration", sizeof(tflite::NodeAndRegistration)},
    {"ScratchBufferHandle", sizeof(ScratchBufferHandle)},
    {"TfLiteTensor", sizeof(TfLiteTensor)},
    {"TfLiteAffineQuantization", sizeof(TfLiteAffineQuantization)},
    {"TfLiteConvParams", sizeof(TfLiteConvParams)},
    {"TfLiteFullyConnectedParams", sizeof(TfLiteFullyConnectedParams)},
    {"TfLiteStridedSliceParams", sizeof(TfLiteStridedSliceParams)},
    {"TfLiteTransposeConvParams", sizeof(TfLiteTransposeConvParams)},
    {"OpDataFullyConnected", ShownSize<tflite::shown::FullyConnected>(0)},
    {"OpDataReduce", ShownSize<tflite::shown::Reduce>(0)},
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
  StartLibrary();
  if (record) {
    CreateRecording(arena, arena_bytes);
  } else {
    CreatePlain(arena, arena_bytes);
  }
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
  void* place = interpreter_storage[model.number].bytes;
  interpreters[model.number] = CreateInterpreter(place, tflite::GetModel(model.data), allocator, variables);
  return interpreters[model.number]->initialization_status() == kTfLiteOk;
}

bool Allocate(uint32_t model) { return interpreters[model]->AllocateTensors() == kTfLiteOk; }

ArenaUsage Usage() {
  return {static_cast<uint32_t>(allocator->used_bytes()),
          static_cast<uint32_t>(arena_memory->GetNonPersistentUsedBytes()),
          static_cast<uint32_t>(arena_memory->GetPersistentUsedBytes())};
}

size_t SectionCount() { return recorder == nullptr ? 0 : sizeof kRecorded / sizeof kRecorded[0]; }

Section RecordedSection(size_t index) {
  const tflite::RecordedAllocation recorded = recorder->GetRecordedAllocation(kRecorded[index].type);
  return {kRecorded[index].name, static_cast<uint32_t>(recorded.requested_bytes),
          static_cast<uint32_t>(recorded.used_bytes), static_cast<uint32_t>(recorded.count)};
}

bool Invoke(uint32_t model) {
  RestartWatch();
  const int status = interpreters[model]->Invoke();
  return status == kTfLiteOk || status == kEndedEarly || status == kEndedEarlyIn2022;
}

uint32_t InputCount(uint32_t model) { return static_cast<uint32_t>(interpreters[model]->inputs_size()); }
uint32_t OutputCount(uint32_t model) { return static_cast<uint32_t>(interpreters[model]->outputs_size()); }
Tensor Input(uint32_t model, uint32_t index) { return Describe(*interpreters[model]->input(index)); }
Tensor Output(uint32_t model, uint32_t index) { return Describe(*interpreters[model]->output(index)); }

}  // namespace tflm
