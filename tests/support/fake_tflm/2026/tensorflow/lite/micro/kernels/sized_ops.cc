// Operators that take of the arena what TFLM's take, and give zeros.
#include <cstring>
#include <initializer_list>

#include "tensorflow/lite/micro/kernels/conv.h"
#include "tensorflow/lite/micro/kernels/fully_connected.h"
#include "tensorflow/lite/micro/kernels/micro_ops.h"
#include "tensorflow/lite/micro/kernels/reduce.h"
#include "tensorflow/lite/micro/micro_allocator.h"

namespace tflite {
namespace {

constexpr int kOutput = -1;

int Elements(const TfLiteEvalTensor& tensor) {
  int elements = 1;
  for (int i = 0; i < tensor.dims->size; ++i) {
    elements *= tensor.dims->data[i];
  }
  return elements;
}

size_t Words(int count) { return 4 * static_cast<size_t>(count); }

// What a Prepare does with the arena, step by step. After a step that fails the others do nothing.
class Steps {
 public:
  Steps(TfLiteContext* context, TfLiteNode* node) : context_(context), node_(node) {}

  bool has(int number) const { return number < node_->inputs->size && node_->inputs->data[number] >= 0; }
  int inputs() const { return node_->inputs->size; }
  const TfLiteEvalTensor& input(int number) const { return context_->tensors[node_->inputs->data[number]]; }
  const TfLiteEvalTensor& output() const { return context_->tensors[node_->outputs->data[0]]; }
  int scales(int number) const {
    return static_cast<int>(AllocatorOf()->ScaleCount(context_->model, node_->inputs->data[number]));
  }

  void Temporary(int number) {
    if (status_ == kTfLiteOk && (number == kOutput || has(number))) {
      const int index = number == kOutput ? node_->outputs->data[0] : node_->inputs->data[number];
      Keep(AllocatorOf()->AllocateTempTensor(context_->model, index) != nullptr);
    }
  }

  void Temporaries(std::initializer_list<int> numbers) {
    for (int number : numbers) {
      Temporary(number);
    }
  }

  void AllTemporaries() {
    for (int number = 0; number < inputs(); ++number) {
      Temporary(number);
    }
  }

  void Persistent(size_t bytes) {
    Keep(status_ == kTfLiteOk && AllocatorOf()->AllocatePersistentBuffer(bytes) != nullptr);
  }

  void Scratch(size_t bytes) { Keep(status_ == kTfLiteOk && AllocatorOf()->RequestScratchBuffer(bytes) == kTfLiteOk); }

  TfLiteStatus status() const { return status_; }

 private:
  MicroAllocator* AllocatorOf() const { return context_->allocator; }
  void Keep(bool is_ok) { status_ = is_ok ? status_ : kTfLiteError; }

  TfLiteContext* context_;
  TfLiteNode* node_;
  TfLiteStatus status_ = kTfLiteOk;
};

TfLiteStatus PrepareConcatenation(TfLiteContext* context, TfLiteNode* node) {
  Steps steps(context, node);
  steps.Temporaries({0, kOutput});
  steps.AllTemporaries();
  return steps.status();
}

TfLiteStatus PrepareConv(TfLiteContext* context, TfLiteNode* node) {
  Steps steps(context, node);
  steps.Temporaries({kOutput, 0, 1});
  steps.Persistent(Words(steps.input(1).dims->data[0]));
  steps.Persistent(Words(steps.input(1).dims->data[0]));
  steps.Temporaries({0, 1, 2, kOutput});
  return steps.status();
}

TfLiteStatus PrepareFullyConnected(TfLiteContext* context, TfLiteNode* node) {
  Steps steps(context, node);
  steps.Temporaries({0, 1, 2, kOutput});
  if (steps.input(0).type != kTfLiteFloat32 && steps.scales(1) > 1) {
    steps.Persistent(Words(steps.scales(1)));
    steps.Persistent(Words(steps.scales(1)));
  }
  return steps.status();
}

TfLiteStatus PrepareGatherNd(TfLiteContext* context, TfLiteNode* node) {
  Steps steps(context, node);
  steps.Temporaries({0, 1, kOutput});
  steps.Persistent(Words(1 + steps.output().dims->size));
  return steps.status();
}

void ReduceTemporaries(Steps& steps) {
  steps.Temporaries({0, 1});
  if (steps.input(0).type == kTfLiteInt8) {
    steps.Temporary(kOutput);
  }
}

void ReduceScratch(Steps& steps) {
  steps.Scratch(Words(steps.input(0).dims->size));
  steps.Scratch(Words(Elements(steps.input(1))));
}

TfLiteStatus PrepareMean(TfLiteContext* context, TfLiteNode* node) {
  Steps steps(context, node);
  steps.Temporaries({0, kOutput, 1});
  if (steps.input(0).type == kTfLiteInt8 || steps.input(0).type == kTfLiteInt16) {
    steps.Scratch(Words(Elements(steps.output())));
  }
  ReduceScratch(steps);
  ReduceTemporaries(steps);
  return steps.status();
}

TfLiteStatus PrepareReduceMax(TfLiteContext* context, TfLiteNode* node) {
  Steps steps(context, node);
  ReduceTemporaries(steps);
  steps.Temporaries({0, kOutput, 1});
  ReduceScratch(steps);
  return steps.status();
}

TfLiteStatus PrepareRelu6(TfLiteContext* context, TfLiteNode* node) {
  Steps steps(context, node);
  steps.Temporary(0);
  return TfLiteIntArrayEqual(steps.input(0).dims, steps.output().dims) ? steps.status() : kTfLiteError;
}

TfLiteStatus PrepareAll(TfLiteContext* context, TfLiteNode* node) {
  Steps steps(context, node);
  steps.AllTemporaries();
  steps.Temporary(kOutput);
  return steps.status();
}

TfLiteStatus PrepareTransposeConv(TfLiteContext* context, TfLiteNode* node) {
  Steps steps(context, node);
  const TfLiteType type = steps.input(2).type;
  steps.Temporaries({kOutput, 2, 1});
  steps.Persistent(Words(steps.input(1).dims->data[0]));
  steps.Persistent(Words(steps.input(1).dims->data[0]));
  if (type == kTfLiteInt8) {
    steps.Scratch(Words(Elements(steps.output())));
  }
  if (type != kTfLiteFloat32) {
    steps.Temporaries({2, 1, 3, kOutput});
  }
  return steps.status();
}

TfLiteStatus InvokeZeros(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteEvalTensor& output = context->tensors[node->outputs->data[0]];
  const size_t element_bytes = output.type == kTfLiteFloat32 ? 4 : 1;
  memset(output.data.data, 0, static_cast<size_t>(Elements(output)) * element_bytes);
  return kTfLiteOk;
}

using Prepare = TfLiteStatus (*)(TfLiteContext*, TfLiteNode*);

// `Builtin`: what the parser keeps.
template <typename Builtin>
TFLMRegistration Sized(Prepare prepare, size_t user_data_bytes) {
  return {prepare, InvokeZeros, sizeof(Builtin), alignof(Builtin), user_data_bytes, 0, nullptr};
}

TFLMRegistration SizedWithoutOptions(Prepare prepare, size_t user_data_bytes) {
  return {prepare, InvokeZeros, 0, 1, user_data_bytes, 0, nullptr};
}

}  // namespace

TFLMRegistration Register_CONCATENATION() { return Sized<TfLiteConcatenationParams>(PrepareConcatenation, 24); }

TFLMRegistration Register_CONV_2D() { return Sized<TfLiteConvParams>(PrepareConv, sizeof(OpDataConv)); }

TFLMRegistration Register_FULLY_CONNECTED() {
  return Sized<TfLiteFullyConnectedParams>(PrepareFullyConnected, sizeof(OpDataFullyConnected));
}

TFLMRegistration Register_GATHER_ND() { return SizedWithoutOptions(PrepareGatherNd, 0); }

TFLMRegistration Register_MEAN() { return Sized<TfLiteReducerParams>(PrepareMean, sizeof(OpDataReduce)); }

TFLMRegistration Register_REDUCE_MAX() { return Sized<TfLiteReducerParams>(PrepareReduceMax, sizeof(OpDataReduce)); }

TFLMRegistration Register_RELU6() { return SizedWithoutOptions(PrepareRelu6, 8); }

TFLMRegistration Register_SELECT_V2() { return SizedWithoutOptions(PrepareAll, 1); }

TFLMRegistration Register_STRIDED_SLICE() { return Sized<TfLiteStridedSliceParams>(PrepareAll, 84); }

TFLMRegistration Register_TRANSPOSE_CONV() { return Sized<TfLiteTransposeConvParams>(PrepareTransposeConv, 72); }

}  // namespace tflite
