#include "app/commands.h"

#include "app/build_info.h"
#include "app/crc32.h"
#include "app/fault.h"
#include "app/json_reader.h"
#include "app/json_writer.h"
#include "app/measure.h"
#include "app/model_image.h"
#include "app/platform.h"
#include "app/stack.h"
#include "app/stage.h"
#include "app/tensor_data.h"
#include "app/wire.h"
#include "tflm/tflm.h"

namespace harness {
namespace {

ModelImage model_image;

void SendOk(std::string_view command) {
  Frame frame("ok");
  frame->Member("cmd", command);
}

void WriteRuns(JsonWriter& json, const UntouchedRuns& untouched) {
  json.Key("untouched");
  json.BeginArray();
  for (size_t i = 0; i < untouched.count; ++i) {
    json.BeginArray();
    json.Number(untouched.runs[i].offset);
    json.Number(untouched.runs[i].size);
    json.EndArray();
  }
  json.EndArray();
}

void WriteTensors(JsonWriter& json, std::string_view name, uint32_t count, tflm::Tensor (*tensor_at)(uint32_t)) {
  json.Key(name);
  json.BeginArray();
  for (uint32_t i = 0; i < count; ++i) {
    const tflm::Tensor tensor = tensor_at(i);
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
  json.EndArray();
}

void WriteStructSizes(JsonWriter& json) {
  json.Key("sizes");
  json.BeginObject();
  for (size_t i = 0; i < tflm::kStructSizeCount; ++i) {
    json.Member(tflm::kStructSizes[i].name, tflm::kStructSizes[i].size_bytes);
  }
  json.EndObject();
}

void WriteModel(JsonWriter& json) {
  json.Key("model");
  json.BeginObject();
  json.Member("state", ModelStateName(model_image.state));
  json.Member("size_bytes", model_image.size);
  json.Key("sha256");
  json.Hex(model_image.sha256, model_image.sha256 == nullptr ? 0 : kSha256Bytes);
  json.EndObject();
}

// The tensor that a command's "index" names; an error frame is sent when there is none.
bool FindTensor(const FlatObject& command, uint32_t count, tflm::Tensor (*tensor_at)(uint32_t), uint32_t* index,
                tflm::Tensor* tensor) {
  if (!IsAllocated()) {
    SendError("not_allocated", "allocate has to succeed first");
    return false;
  }
  if (!command.GetNumber("index", index) || *index >= count) {
    SendError("bad_argument", "index: no such tensor");
    return false;
  }
  *tensor = tensor_at(*index);
  if (tensor->data == nullptr) {
    SendError("no_data", "TFLM gave this tensor no memory");
    return false;
  }
  return true;
}

// The magic byte that a command's "paint" gives; an error frame is sent when it is none.
bool GetMagic(const FlatObject& command, uint8_t* magic) {
  uint32_t number = 0;
  if (!command.GetNumber("paint", &number) || number > 0xFF) {
    SendError("bad_argument", "paint: not a byte");
    return false;
  }
  *magic = static_cast<uint8_t>(number);
  return true;
}

void AnswerHello(const FlatObject&) { SendHello(); }

void AnswerAllocate(const FlatObject& command) {
  uint32_t arena_bytes = 0;
  uint8_t magic = 0;
  if (!command.GetNumber("arena_bytes", &arena_bytes) || arena_bytes > MaxArenaBytes()) {
    return SendError("bad_argument", "arena_bytes: not a number up to arena_max_bytes");
  }
  if (!GetMagic(command, &magic)) {
    return;
  }
  if (model_image.state != ModelState::kOk) {
    return SendError("no_model", ModelStateName(model_image.state));
  }
  if (AllocateWasTried()) {
    return SendError("reset_first", "TFLM's kernels keep state: one allocate per reset");
  }
  EnterStage(Stage::kAllocate);
  const Allocated result = Allocate(model_image.data, arena_bytes, magic);
  const uint32_t stack_used_bytes = StackUsedBytes();
  Frame frame("allocated");
  frame->Member("status", result.ok ? "ok" : "error");
  frame->Member("arena_bytes", arena_bytes);
  frame->Member("used_bytes", result.usage.used_bytes);
  frame->Member("head_bytes", result.usage.head_bytes);
  frame->Member("tail_bytes", result.usage.tail_bytes);
  frame->Member("ticks", result.ticks);
  frame->Member("paint_ok", result.paint_ok);
  frame->Member("stack_used_bytes", stack_used_bytes);
  WriteTensors(frame.json(), "inputs", result.ok ? tflm::InputCount() : 0, tflm::Input);
  WriteTensors(frame.json(), "outputs", result.ok ? tflm::OutputCount() : 0, tflm::Output);
  WriteRuns(frame.json(), result.untouched);
}

void AnswerInput(const FlatObject& command) {
  uint32_t index = 0;
  tflm::Tensor tensor;
  if (!FindTensor(command, tflm::InputCount(), tflm::Input, &index, &tensor)) {
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
  if (!FindTensor(command, tflm::InputCount(), tflm::Input, &index, &tensor)) {
    return;
  }
  EnterStage(Stage::kInput);
  FillWithPattern(tensor);
  SendOk("fill");
}

void AnswerRepaint(const FlatObject& command) {
  if (!IsAllocated()) {
    return SendError("not_allocated", "allocate has to succeed first");
  }
  uint8_t magic = 0;
  if (!GetMagic(command, &magic)) {
    return;
  }
  EnterStage(Stage::kScan);
  Repaint(magic);
  SendOk("repaint");
}

void AnswerInvoke(const FlatObject& command) {
  if (!IsAllocated()) {
    return SendError("not_allocated", "allocate has to succeed first");
  }
  uint32_t watch = 0;
  command.GetNumber("watch", &watch);
  EnterStage(Stage::kInvoke);
  const Invoked result = Invoke(watch != 0);
  const uint32_t stack_used_bytes = StackUsedBytes();
  Frame frame("invoked");
  frame->Member("status", result.ok ? "ok" : "error");
  frame->Member("ticks", result.ticks);
  frame->Member("stack_used_bytes", stack_used_bytes);
  WriteOperator(frame.json(), result.culprit);
}

void AnswerScan(const FlatObject&) {
  if (!IsAllocated()) {
    return SendError("not_allocated", "allocate has to succeed first");
  }
  EnterStage(Stage::kScan);
  const Scanned result = Scan();
  const uint32_t stack_used_bytes = StackUsedBytes();
  Frame frame("scanned");
  frame->Member("gap_offset", result.gap.offset);
  frame->Member("gap_bytes", result.gap.size);
  frame->Member("written_bytes", result.middle.count);
  frame->Member("written_first", result.middle.first);
  frame->Member("written_last", result.middle.last);
  frame->Member("tail_untouched_bytes", result.tail_untouched_bytes);
  frame->Member("guard_low_written_bytes", result.guard_low.count);
  frame->Member("guard_low_first", result.guard_low.first);
  frame->Member("guard_high_written_bytes", result.guard_high.count);
  frame->Member("guard_high_first", result.guard_high.first);
  frame->Member("stack_used_bytes", stack_used_bytes);
  WriteRuns(frame.json(), result.untouched);
}

void AnswerOutput(const FlatObject& command) {
  uint32_t index = 0;
  tflm::Tensor tensor;
  if (!FindTensor(command, tflm::OutputCount(), tflm::Output, &index, &tensor)) {
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

void AnswerReset(const FlatObject&) {
  SendOk("reset");
  platform::Reset();
}

// A run begins with the first command after a reset, or with a "hello"; commands of another run are refused.
bool BelongsToThisRun(std::string_view command, std::string_view nonce) {
  if (Nonce() == kNoNonce || command == "hello") {
    SetNonce(nonce);
  }
  return nonce == Nonce();
}

struct Command {
  std::string_view name;
  void (*answer)(const FlatObject&);
};

constexpr Command kCommands[] = {
    {"hello", AnswerHello},     {"allocate", AnswerAllocate}, {"input", AnswerInput},
    {"fill", AnswerFill},       {"repaint", AnswerRepaint},   {"invoke", AnswerInvoke},
    {"scan", AnswerScan},       {"output", AnswerOutput},     {"reset", AnswerReset},
};

}  // namespace

void LoadModelImage() {
  model_image = ReadModelImage(platform::ModelFlash(), kBuildId);
  if (model_image.state == ModelState::kOk && !tflm::SchemaIsSupported(model_image.data)) {
    model_image.state = ModelState::kBadSchema;
  }
}

void SendHello() {
  const platform::Region image = platform::FirmwareImage();
  const platform::Region unit = platform::UniqueId();
  Frame frame("hello");
  frame->Member("protocol", kProtocolVersion);
  frame->Member("build_id", kBuildId);
  frame->Member("image_crc32", Crc32(0, image.start, image.size));
  frame->Member("board", kBoardId);
  frame->Member("tflm", tflm::kGeneration);
  frame->Key("unit");
  frame->Hex(unit.start, unit.size);
  frame->Member("arena_max_bytes", MaxArenaBytes());
  frame->Member("line_bytes", static_cast<uint32_t>(kCommandLineBytes));
  frame->Member("clock_hz", platform::ClockHz());
  frame->Member("clock_source", platform::ClockSource());
  frame->Member("stack_bytes", platform::Stack().size);
  frame->Member("reset", platform::ResetReason());
  WriteStructSizes(frame.json());
  WriteModel(frame.json());
}

void SendError(std::string_view error, std::string_view text) {
  Frame frame("error");
  frame->Member("error", error);
  frame->Member("text", text);
}

void AnswerCommand(const CommandLine& line) {
  FlatObject object;
  std::string_view name;
  if (!object.Parse(line.json) || !object.GetString("cmd", &name)) {
    return SendError("bad_command", "not a flat JSON object with a cmd");
  }
  if (!BelongsToThisRun(name, line.nonce)) {
    return SendError("bad_nonce", "this run began with another nonce");
  }
  for (const Command& command : kCommands) {
    if (command.name == name) {
      return command.answer(object);
    }
  }
  SendError("bad_command", name);
}

}  // namespace harness
