#include "tensorflow/lite/micro/recording_micro_allocator.h"

#include <new>

#include "tensorflow/lite/micro/memory_planner/greedy_memory_planner.h"

namespace tflite {

// Adds what is allocated while it lives to one type.
class RecordingMicroAllocator::Recording {
 public:
  Recording(RecordingMicroAllocator* allocator, RecordedAllocationType type)
      : memory_(*allocator->memory_), recorded_(&allocator->recorded_[static_cast<size_t>(type)]), before_(Now()) {}

  ~Recording() {
    const RecordedAllocation now = Now();
    recorded_->requested_bytes += now.requested_bytes - before_.requested_bytes;
    recorded_->used_bytes += now.used_bytes - before_.used_bytes;
    recorded_->count += now.count - before_.count + more_;
  }

  // One allocation holds so many items.
  void CountItems(uint32_t items) { more_ = items - 1; }

 private:
  RecordedAllocation Now() const {
    return {memory_.GetRequestedBytes(), memory_.GetUsedBytes(), memory_.GetAllocatedCount()};
  }

  const RecordingSingleArenaBufferAllocator& memory_;
  RecordedAllocation* recorded_;
  RecordedAllocation before_;
  uint32_t more_ = 0;
};

RecordingMicroAllocator::RecordingMicroAllocator(RecordingSingleArenaBufferAllocator* memory_allocator,
                                                 MicroMemoryPlanner* memory_planner)
    : MicroAllocator(memory_allocator, memory_planner), memory_(memory_allocator) {}

RecordingMicroAllocator* RecordingMicroAllocator::Create(uint8_t* tensor_arena, size_t arena_size) {
  auto* memory = RecordingSingleArenaBufferAllocator::Create(tensor_arena, arena_size);
  uint8_t* planner = memory->AllocatePersistentBuffer(sizeof(GreedyMemoryPlanner), alignof(GreedyMemoryPlanner));
  auto* made = new (planner) GreedyMemoryPlanner();
  uint8_t* place = memory->AllocatePersistentBuffer(sizeof(RecordingMicroAllocator), alignof(RecordingMicroAllocator));
  return new (place) RecordingMicroAllocator(memory, made);
}

RecordedAllocation RecordingMicroAllocator::GetRecordedAllocation(RecordedAllocationType allocation_type) const {
  return recorded_[static_cast<size_t>(allocation_type)];
}

const RecordingSingleArenaBufferAllocator* RecordingMicroAllocator::GetSimpleMemoryAllocator() const { return memory_; }

void* RecordingMicroAllocator::AllocatePersistentBuffer(size_t bytes) {
  Recording recording(this, RecordedAllocationType::kPersistentBufferData);
  return MicroAllocator::AllocatePersistentBuffer(bytes);
}

TfLiteEvalTensor* RecordingMicroAllocator::AllocateEvalTensors(const Model* model) {
  Recording recording(this, RecordedAllocationType::kTfLiteEvalTensorData);
  recording.CountItems(model->subgraph()->tensors_length());
  return MicroAllocator::AllocateEvalTensors(model);
}

NodeAndRegistration* RecordingMicroAllocator::AllocateNodeAndRegistrations(const Model* model) {
  Recording recording(this, RecordedAllocationType::kNodeAndRegistrationArray);
  recording.CountItems(model->subgraph()->operators_length());
  return MicroAllocator::AllocateNodeAndRegistrations(model);
}

TfLiteStatus RecordingMicroAllocator::AllocateVariables(const Model* model, TfLiteEvalTensor* tensors) {
  Recording recording(this, RecordedAllocationType::kTfLiteTensorVariableBufferData);
  return MicroAllocator::AllocateVariables(model, tensors);
}

TfLiteTensor* RecordingMicroAllocator::AllocateTensorStruct() {
  Recording recording(this, RecordedAllocationType::kPersistentTfLiteTensorData);
  return MicroAllocator::AllocateTensorStruct();
}

TfLiteStatus RecordingMicroAllocator::PopulateTensor(const Tensor* source, TfLiteTensor* tensor, bool is_temp) {
  Recording recording(this, RecordedAllocationType::kPersistentTfLiteTensorQuantizationData);
  return MicroAllocator::PopulateTensor(source, tensor, is_temp);
}

}  // namespace tflite
