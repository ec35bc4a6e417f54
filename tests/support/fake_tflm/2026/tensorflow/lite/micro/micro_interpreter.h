#pragma once

#include <cstddef>
#include <cstdint>

#include "tensorflow/lite/c/common.h"
#include "tensorflow/lite/micro/micro_allocator.h"
#include "tensorflow/lite/micro/micro_context.h"
#include "tensorflow/lite/micro/micro_op_resolver.h"
#include "tensorflow/lite/micro/micro_profiler_interface.h"
#include "tensorflow/lite/micro/micro_resource_variable.h"
#include "tensorflow/lite/schema/schema_generated.h"

namespace tflite {

class MicroInterpreter {
 public:
  MicroInterpreter(const Model* model, const MicroOpResolver& op_resolver, uint8_t* tensor_arena,
                   size_t tensor_arena_size, MicroResourceVariables* resource_variables = nullptr,
                   MicroProfilerInterface* profiler = nullptr);
  MicroInterpreter(const Model* model, const MicroOpResolver& op_resolver, MicroAllocator* allocator,
                   MicroResourceVariables* resource_variables = nullptr, MicroProfilerInterface* profiler = nullptr);
  ~MicroInterpreter();

  TfLiteStatus AllocateTensors();
  TfLiteStatus Invoke();

  TfLiteTensor* input(size_t index) { return input_tensors_[index]; }
  size_t inputs_size() const { return model_->subgraph()->inputs_length(); }
  TfLiteTensor* output(size_t index) { return output_tensors_[index]; }
  size_t outputs_size() const { return model_->subgraph()->outputs_length(); }

  TfLiteStatus initialization_status() const { return kTfLiteOk; }
  size_t arena_used_bytes() const { return allocator_.used_bytes(); }

 protected:
  const MicroAllocator& allocator() const { return allocator_; }

 private:
  TfLiteStatus FindRegistrations();
  TfLiteStatus InitOperators();
  TfLiteStatus PrepareOperators();
  TfLiteStatus InvokeOperator(NodeAndRegistration* op);
  TfLiteTensor** AllocateTensorList(const uint8_t* indices, size_t count);

  const Model* model_;
  const MicroOpResolver& op_resolver_;
  MicroAllocator& allocator_;
  TfLiteContext context_;
  SubgraphAllocations* allocations_ = nullptr;
  TfLiteTensor** input_tensors_ = nullptr;
  TfLiteTensor** output_tensors_ = nullptr;
};

}  // namespace tflite
