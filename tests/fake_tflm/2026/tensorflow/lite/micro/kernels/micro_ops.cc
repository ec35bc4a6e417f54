#include "tensorflow/lite/micro/kernels/micro_ops.h"

#include "tensorflow/lite/micro/micro_allocator.h"
#include "tensorflow/lite/micro/micro_context.h"
#include "tensorflow/lite/micro/micro_log.h"
#include "tensorflow/lite/micro/micro_profiler_interface.h"
#include "tensorflow/lite/micro/micro_resource_variable.h"

namespace tflite {
namespace {

constexpr char kContainer[] = "";
constexpr char kCount[] = "count";

struct Operands {
  const int8_t* input;
  int8_t* output;
  int elements;
};

Operands OperandsOf(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteEvalTensor& input = context->tensors[node->inputs->data[0]];
  const TfLiteEvalTensor& output = context->tensors[node->outputs->data[0]];
  int elements = 1;
  for (int i = 0; i < input.dims->size; ++i) {
    elements *= input.dims->data[i];
  }
  return {input.data.int8, output.data.int8, elements};
}

TfLiteStatus InvokeNeg(TfLiteContext* context, TfLiteNode* node) {
  const Operands operands = OperandsOf(context, node);
  switch (operands.input[0]) {
    case kFaults:
      __builtin_trap();
    case kEndsEarly:
      return kTfLiteAbort;
    case kFails:
      return kTfLiteError;
    default:
      break;
  }
  for (int i = 0; i < operands.elements; ++i) {
    operands.output[i] = static_cast<int8_t>(-operands.input[i]);
  }
  return kTfLiteOk;
}

TfLiteStatus PrepareCounter(TfLiteContext* context, TfLiteNode*) {
  if (context->variables == nullptr) {
    MicroPrintf("COUNTER needs a resource variable");
    return kTfLiteError;
  }
  const int id = context->variables->CreateIdIfNoneFound(kContainer, kCount);
  return id < 0 ? kTfLiteError : context->variables->Allocate(id, context->allocator, sizeof(int8_t));
}

TfLiteStatus InvokeCounter(TfLiteContext* context, TfLiteNode* node) {
  const Operands operands = OperandsOf(context, node);
  const int id = context->variables->CreateIdIfNoneFound(kContainer, kCount);
  auto* count = static_cast<int8_t*>(context->variables->Buffer(id));
  const uint32_t event = context->profiler == nullptr ? 0 : context->profiler->BeginEvent("INSIDE");
  for (int i = 0; i < operands.elements; ++i) {
    operands.output[i] = static_cast<int8_t>(operands.input[i] + *count);
  }
  ++*count;
  if (context->profiler != nullptr) {
    context->profiler->EndEvent(event);
  }
  return kTfLiteOk;
}

TFLMRegistration counter = {PrepareCounter, InvokeCounter, 0, nullptr};

}  // namespace

TFLMRegistration Register_NEG() { return {nullptr, InvokeNeg, 0, nullptr}; }

TFLMRegistration* Register_COUNTER() { return &counter; }

}  // namespace tflite
