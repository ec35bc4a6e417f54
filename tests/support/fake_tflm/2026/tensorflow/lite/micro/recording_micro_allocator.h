#pragma once

#include "tensorflow/lite/micro/arena_allocator/recording_single_arena_buffer_allocator.h"
#include "tensorflow/lite/micro/micro_allocator.h"

namespace tflite {

enum class RecordedAllocationType {
  kTfLiteEvalTensorData,
  kPersistentTfLiteTensorData,
  kPersistentTfLiteTensorQuantizationData,
  kPersistentBufferData,
  kTfLiteTensorVariableBufferData,
  kNodeAndRegistrationArray,
  kOpData,
};

struct RecordedAllocation {
  size_t requested_bytes;
  size_t used_bytes;
  size_t count;
};

class RecordingMicroAllocator : public MicroAllocator {
 public:
  static RecordingMicroAllocator* Create(uint8_t* tensor_arena, size_t arena_size);

  RecordedAllocation GetRecordedAllocation(RecordedAllocationType allocation_type) const;
  const RecordingSingleArenaBufferAllocator* GetSimpleMemoryAllocator() const;

  void* AllocatePersistentBuffer(size_t bytes) override;

 protected:
  TfLiteEvalTensor* AllocateEvalTensors(const Model* model) override;
  NodeAndRegistration* AllocateNodeAndRegistrations(const Model* model) override;
  TfLiteStatus AllocateVariables(const Model* model, TfLiteEvalTensor* tensors) override;
  TfLiteTensor* AllocateTensorStruct() override;
  TfLiteStatus PopulateTensor(const Tensor* source, TfLiteTensor* tensor, bool is_temp) override;

 private:
  class Recording;
  static constexpr size_t kTypes = 7;

  RecordingMicroAllocator(RecordingSingleArenaBufferAllocator* memory_allocator, MicroMemoryPlanner* memory_planner);

  const RecordingSingleArenaBufferAllocator* memory_;
  RecordedAllocation recorded_[kTypes] = {};

  TF_LITE_REMOVE_VIRTUAL_DELETE
};

}  // namespace tflite
