#include "tensorflow/lite/micro/micro_interpreter.h"

#include "tensorflow/lite/micro/micro_log.h"

namespace tflite {
namespace {

const char* NameOf(const TFLMRegistration& registration) {
  return EnumNameBuiltinOperator(static_cast<BuiltinOperator>(registration.builtin_code));
}

}  // namespace

MicroInterpreter::MicroInterpreter(const Model* model, const MicroOpResolver& op_resolver, uint8_t* tensor_arena,
                                   size_t tensor_arena_size, MicroResourceVariables* resource_variables,
                                   MicroProfilerInterface* profiler)
    : MicroInterpreter(model, op_resolver, MicroAllocator::Create(tensor_arena, tensor_arena_size), resource_variables,
                       profiler) {}

MicroInterpreter::MicroInterpreter(const Model* model, const MicroOpResolver& op_resolver, MicroAllocator* allocator,
                                   MicroResourceVariables* resource_variables, MicroProfilerInterface* profiler)
    : model_(model),
      op_resolver_(op_resolver),
      allocator_(*allocator),
      context_{nullptr, allocator, resource_variables, profiler, model} {}

MicroInterpreter::~MicroInterpreter() {}

TfLiteStatus MicroInterpreter::AllocateTensors() {
  allocations_ = allocator_.StartModelAllocation(model_);
  if (allocations_ == nullptr) {
    MicroPrintf("Failed starting model allocation.\n");
    return kTfLiteError;
  }
  context_.tensors = allocations_->tensors;
  if (FindRegistrations() != kTfLiteOk || InitOperators() != kTfLiteOk || PrepareOperators() != kTfLiteOk ||
      allocator_.FinishModelAllocation(model_, allocations_) != kTfLiteOk) {
    return kTfLiteError;
  }
  input_tensors_ = AllocateTensorList(model_->subgraph()->inputs(), inputs_size());
  output_tensors_ =
      input_tensors_ == nullptr ? nullptr : AllocateTensorList(model_->subgraph()->outputs(), outputs_size());
  return output_tensors_ == nullptr ? kTfLiteError : kTfLiteOk;
}

TfLiteStatus MicroInterpreter::Invoke() {
  TfLiteStatus status = kTfLiteOk;
  for (uint32_t i = 0; i < model_->subgraph()->operators_length() && status == kTfLiteOk; ++i) {
    NodeAndRegistration& op = allocations_->node_and_registrations[i];
    status = InvokeOperator(&op);
    if (status != kTfLiteOk && status != kTfLiteAbort) {
      MicroPrintf("Node %s (number %d) failed to invoke with status %d", NameOf(*op.registration), i, status);
    }
  }
  return status;
}

TfLiteStatus MicroInterpreter::InvokeOperator(NodeAndRegistration* op) {
  MicroProfilerInterface* profiler = context_.profiler;
  const uint32_t event = profiler == nullptr ? 0 : profiler->BeginEvent(NameOf(*op->registration));
  const TfLiteStatus status = op->registration->invoke(&context_, &op->node);
  if (profiler != nullptr) {
    profiler->EndEvent(event);
  }
  return status;
}

TfLiteStatus MicroInterpreter::FindRegistrations() {
  const SubGraph* graph = model_->subgraph();
  for (uint32_t i = 0; i < graph->operators_length(); ++i) {
    const BuiltinOperator code = model_->operator_code(graph->op(i)->opcode_index())->builtin_code();
    const TFLMRegistration* found = op_resolver_.FindOp(code);
    if (found == nullptr) {
      MicroPrintf("Didn't find op for builtin opcode '%s'", EnumNameBuiltinOperator(code));
      return kTfLiteError;
    }
    NodeAndRegistration& op = allocations_->node_and_registrations[i];
    op.registration = found;
    op.node.builtin_data =
        found->builtin_data_bytes == 0
            ? nullptr
            : allocator_.AllocateBuiltinData(found->builtin_data_bytes, found->builtin_data_alignment);
    if (found->builtin_data_bytes > 0 && op.node.builtin_data == nullptr) {
      return kTfLiteError;
    }
  }
  return kTfLiteOk;
}

TfLiteStatus MicroInterpreter::InitOperators() {
  for (uint32_t i = 0; i < model_->subgraph()->operators_length(); ++i) {
    NodeAndRegistration& op = allocations_->node_and_registrations[i];
    const size_t bytes = op.registration->user_data_bytes;
    op.node.user_data = bytes == 0 ? nullptr : allocator_.AllocatePersistentBuffer(bytes);
    if (bytes > 0 && op.node.user_data == nullptr) {
      return kTfLiteError;
    }
  }
  return kTfLiteOk;
}

TfLiteStatus MicroInterpreter::PrepareOperators() {
  for (uint32_t i = 0; i < model_->subgraph()->operators_length(); ++i) {
    NodeAndRegistration& op = allocations_->node_and_registrations[i];
    const TfLiteStatus status =
        op.registration->prepare == nullptr ? kTfLiteOk : op.registration->prepare(&context_, &op.node);
    if (status != kTfLiteOk) {
      char node[40];
      MicroSnprintf(node, sizeof node, "Node %s (number %lu)", NameOf(*op.registration), static_cast<unsigned long>(i));
      MicroPrintf("%s failed to prepare with status %d", node, status);
      return status;
    }
    allocator_.FinishPrepare(static_cast<int>(i));
  }
  return kTfLiteOk;
}

TfLiteTensor** MicroInterpreter::AllocateTensorList(const uint8_t* indices, size_t count) {
  auto** tensors = static_cast<TfLiteTensor**>(allocator_.AllocatePersistentBuffer(count * sizeof(TfLiteTensor*)));
  for (size_t i = 0; tensors != nullptr && i < count; ++i) {
    const int index = ReadAt<int32_t>(indices + 4 + 4 * i);
    tensors[i] = allocator_.AllocatePersistentTfLiteTensor(model_, allocations_, index);
    if (tensors[i] == nullptr) {
      return nullptr;
    }
  }
  return tensors;
}

}  // namespace tflite
