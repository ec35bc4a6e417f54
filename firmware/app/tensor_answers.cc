#include "app/tensor_answers.h"

#include <string_view>

#include "app/measure.h"
#include "app/replies.h"
#include "app/stage.h"
#include "app/tensor_data.h"
#include "tflm/tflm.h"

namespace harness {
namespace {

// The inputs of a model, or its outputs.
struct Tensors {
  uint32_t (*count)(uint32_t model);
  tflm::Tensor (*at)(uint32_t model, uint32_t index);
};
constexpr Tensors kInputs{tflm::InputCount, tflm::Input};
constexpr Tensors kOutputs{tflm::OutputCount, tflm::Output};

// The tensor that a command's "model" and "index" name; an error frame is sent when there is none.
bool FindTensor(const FlatObject& command, const Tensors& tensors, uint32_t* index, tflm::Tensor* tensor) {
  const uint32_t model = command.NumberOr("model", 0);
  if (!IsAllocated(model)) {
    SendError("not_allocated", "allocate has to succeed first");
    return false;
  }
  if (!command.GetNumber("index", index) || *index >= tensors.count(model)) {
    SendError("bad_argument", "index: no such tensor");
    return false;
  }
  *tensor = tensors.at(model, *index);
  if (tensor->data == nullptr) {
    SendError("no_data", "TFLM gave this tensor no memory");
    return false;
  }
  return true;
}

void WriteTensor(JsonWriter& json, const tflm::Tensor& tensor) {
  json.BeginObject();
  json.Member("type", tensor.type);
  json.Key("shape");
  json.BeginArray();
  for (uint32_t dimension = 0; dimension < tensor.rank; ++dimension) {
    json.Number(tensor.shape[dimension]);
  }
  json.EndArray();
  json.Member("size_bytes", tensor.size_bytes);
  json.EndObject();
}

void WriteList(JsonWriter& json, std::string_view name, const Tensors& tensors, uint32_t model, bool allocated) {
  json.Key(name);
  json.BeginArray();
  const uint32_t count = allocated ? tensors.count(model) : 0;
  for (uint32_t i = 0; i < count; ++i) {
    WriteTensor(json, tensors.at(model, i));
  }
  json.EndArray();
}

}  // namespace

void AnswerInput(const FlatObject& command) {
  uint32_t index = 0;
  tflm::Tensor tensor;
  if (!FindTensor(command, kInputs, &index, &tensor)) {
    return;
  }
  EnterStage(Stage::kInput);
  uint32_t offset = 0;
  std::string_view hex;
  if (!command.GetNumber("offset", &offset) || !command.GetString("hex", &hex) || !WriteHex(tensor, offset, hex)) {
    return SendError("bad_argument", "offset, hex: not bytes that lie inside the tensor");
  }
  SendOk("input");
}

void AnswerFill(const FlatObject& command) {
  uint32_t index = 0;
  tflm::Tensor tensor;
  if (!FindTensor(command, kInputs, &index, &tensor)) {
    return;
  }
  EnterStage(Stage::kInput);
  FillWithPattern(tensor);
  SendOk("fill");
}

void AnswerOutput(const FlatObject& command) {
  uint32_t index = 0;
  tflm::Tensor tensor;
  if (!FindTensor(command, kOutputs, &index, &tensor)) {
    return;
  }
  EnterStage(Stage::kOutput);
  Frame frame("output");
  frame->Member("index", index);
  frame->Member("type", tensor.type);
  frame->Member("size_bytes", tensor.size_bytes);
  frame->Key("hex");
  frame->Hex(tensor.data, tensor.size_bytes);
}

void WriteTensors(JsonWriter& json, uint32_t model, bool allocated) {
  WriteList(json, "inputs", kInputs, model, allocated);
  WriteList(json, "outputs", kOutputs, model, allocated);
}

}  // namespace harness
