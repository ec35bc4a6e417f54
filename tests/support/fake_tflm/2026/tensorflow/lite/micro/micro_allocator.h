// Allocates what a model needs, in the order in which TFLM does.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tensorflow/lite/c/common.h"
#include "tensorflow/lite/micro/arena_allocator/single_arena_buffer_allocator.h"
#include "tensorflow/lite/micro/compatibility.h"
#include "tensorflow/lite/micro/memory_planner/micro_memory_planner.h"
#include "tensorflow/lite/schema/schema_generated.h"

namespace tflite {

struct NodeAndRegistration {
  TfLiteNode node;
  const TFLMRegistration* registration;
};

struct ScratchBufferHandle {
  uint8_t* data;
};

struct SubgraphAllocations {
  NodeAndRegistration* node_and_registrations;
  TfLiteEvalTensor* tensors;
};

class MicroAllocator {
 public:
  static MicroAllocator* Create(uint8_t* tensor_arena, size_t arena_size);
  static MicroAllocator* Create(SingleArenaBufferAllocator* memory_allocator, MicroMemoryPlanner* memory_planner);

  virtual void* AllocatePersistentBuffer(size_t bytes);
  void* AllocateBuiltinData(size_t bytes, size_t alignment);
  size_t used_bytes() const;

  // The steps of AllocateTensors; null or an error when the arena is too small.
  SubgraphAllocations* StartModelAllocation(const Model* model);
  TfLiteStatus FinishModelAllocation(const Model* model, SubgraphAllocations* allocations);
  TfLiteTensor* AllocatePersistentTfLiteTensor(const Model* model, const SubgraphAllocations* allocations, int index);

  // What the Prepare of an operator may ask for. Temporary tensors have no contents.
  TfLiteTensor* AllocateTempTensor(const Model* model, int index);
  uint32_t ScaleCount(const Model* model, int index) const;
  TfLiteStatus RequestScratchBuffer(size_t bytes);
  // Gives up temporary tensors, and tells whose the scratch requests were.
  void FinishPrepare(int node);

 protected:
  MicroAllocator(SingleArenaBufferAllocator* memory_allocator, MicroMemoryPlanner* memory_planner);
  virtual ~MicroAllocator();

  // What a recording allocator listens to.
  virtual TfLiteEvalTensor* AllocateEvalTensors(const Model* model);
  virtual NodeAndRegistration* AllocateNodeAndRegistrations(const Model* model);
  virtual TfLiteStatus AllocateVariables(const Model* model, TfLiteEvalTensor* tensors);
  virtual TfLiteTensor* AllocateTensorStruct();
  virtual TfLiteStatus PopulateTensor(const Tensor* source, TfLiteTensor* tensor, bool is_temp);

 private:
  struct ScratchRequest {
    size_t bytes;
    int node;  // -1 until its operator is prepared
    int subgraph;
  };

  // They lie at the arena's start until memory is planned.
  ScratchRequest* requests() const { return reinterpret_cast<ScratchRequest*>(memory_->start()); }
  size_t RequestsBytes() const;
  void* Allocate(size_t bytes, size_t alignment, bool is_temp);
  TfLiteStatus AllocateHandles();
  TfLiteStatus Plan(const Model* model, TfLiteEvalTensor* tensors);
  TfLiteStatus AddBuffers(const Model* model, const TfLiteEvalTensor* tensors);
  void PlaceBuffers(const Model* model, TfLiteEvalTensor* tensors);

  SingleArenaBufferAllocator* memory_;
  MicroMemoryPlanner* planner_;
  ScratchBufferHandle* handles_ = nullptr;
  size_t request_count_ = 0;
  size_t max_head_bytes_ = 0;
  [[maybe_unused]] uintptr_t unused_[3];

  TF_LITE_REMOVE_VIRTUAL_DELETE
};

}  // namespace tflite
