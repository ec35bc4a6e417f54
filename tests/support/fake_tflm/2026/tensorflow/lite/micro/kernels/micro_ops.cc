#include "tensorflow/lite/micro/kernels/micro_ops.h"

#include <cstring>

#include "tensorflow/lite/micro/micro_allocator.h"
#include "tensorflow/lite/micro/micro_context.h"
#include "tensorflow/lite/micro/micro_log.h"
#include "tensorflow/lite/micro/micro_profiler_interface.h"
#include "tensorflow/lite/micro/micro_resource_variable.h"

namespace tflite {
namespace {

TfLiteEvalTensor& InputOf(TfLiteContext* context, TfLiteNode* node, int index) {
  return context->tensors[node->inputs->data[index]];
}

TfLiteEvalTensor& OutputOf(TfLiteContext* context, TfLiteNode* node) {
  return context->tensors[node->outputs->data[0]];
}

size_t BytesOf(const TfLiteEvalTensor& tensor) {
  size_t bytes = 1;
  for (int i = 0; i < tensor.dims->size; ++i) {
    bytes *= static_cast<size_t>(tensor.dims->data[i]);
  }
  return bytes;
}

bool HasTemporary(TfLiteContext* context, TfLiteNode* node, int input) {
  return context->allocator->AllocateTempTensor(context->model, node->inputs->data[input]) != nullptr;
}

TfLiteStatus InvokeNeg(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteEvalTensor& input = InputOf(context, node, 0);
  switch (input.data.int8[0]) {
    case kFaults:
      __builtin_trap();
    case kEndsEarly:
      return kTfLiteAbort;
    case kFails:
      return kTfLiteError;
    default:
      break;
  }
  for (size_t i = 0; i < BytesOf(input); ++i) {
    OutputOf(context, node).data.int8[i] = static_cast<int8_t>(-input.data.int8[i]);
  }
  return kTfLiteOk;
}

// A handle's tensor holds the number of its variable.
int32_t VariableOf(TfLiteContext* context, TfLiteNode* node) {
  return ReadAt<int32_t>(InputOf(context, node, 0).data.data);
}

TfLiteStatus PrepareVarHandle(TfLiteContext* context, TfLiteNode* node) {
  if (context->variables == nullptr) {
    MicroPrintf("VAR_HANDLE requires resource variables");
    return kTfLiteError;
  }
  const auto* op = static_cast<const Operator*>(node->custom_initial_data);
  const int32_t id = context->variables->CreateIdIfNoneFound("", op->builtin_options()->shared_name());
  memcpy(node->user_data, &id, sizeof id);
  OutputOf(context, node).data.data = node->user_data;
  return id < 0 ? kTfLiteError : kTfLiteOk;
}

TfLiteStatus PrepareReadVariable(TfLiteContext* context, TfLiteNode* node) {
  return HasTemporary(context, node, 0) ? kTfLiteOk : kTfLiteError;
}

TfLiteStatus PrepareAssignVariable(TfLiteContext* context, TfLiteNode* node) {
  if (!HasTemporary(context, node, 1)) {
    return kTfLiteError;
  }
  const size_t bytes = BytesOf(InputOf(context, node, 1));
  return context->variables->Allocate(VariableOf(context, node), context->allocator, bytes);
}

TfLiteStatus InvokeNothing(TfLiteContext*, TfLiteNode*) { return kTfLiteOk; }

TfLiteStatus InvokeReadVariable(TfLiteContext* context, TfLiteNode* node) {
  const uint32_t event = context->profiler == nullptr ? 0 : context->profiler->BeginEvent("INSIDE");
  const TfLiteEvalTensor& output = OutputOf(context, node);
  memcpy(output.data.data, context->variables->Buffer(VariableOf(context, node)), BytesOf(output));
  if (context->profiler != nullptr) {
    context->profiler->EndEvent(event);
  }
  return kTfLiteOk;
}

TfLiteStatus InvokeAssignVariable(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteEvalTensor& input = InputOf(context, node, 1);
  memcpy(context->variables->Buffer(VariableOf(context, node)), input.data.data, BytesOf(input));
  return kTfLiteOk;
}

}  // namespace

TFLMRegistration Register_NEG() { return {nullptr, InvokeNeg, 0, 1, 0, 0, nullptr}; }

TFLMRegistration Register_VAR_HANDLE() { return {PrepareVarHandle, InvokeNothing, 8, 4, 4, 0, nullptr}; }

TFLMRegistration Register_READ_VARIABLE() { return {PrepareReadVariable, InvokeReadVariable, 0, 1, 0, 0, nullptr}; }

TFLMRegistration Register_ASSIGN_VARIABLE() {
  return {PrepareAssignVariable, InvokeAssignVariable, 0, 1, 0, 0, nullptr};
}

}  // namespace tflite
