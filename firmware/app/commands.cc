#include "app/commands.h"

#include <string_view>

#include "app/arena_answers.h"
#include "app/build_info.h"
#include "app/crc32.h"
#include "app/json_reader.h"
#include "app/json_writer.h"
#include "app/measure.h"
#include "app/model_image.h"
#include "app/platform.h"
#include "app/replies.h"
#include "app/tensor_answers.h"
#include "app/wire.h"
#include "tflm/tflm.h"

namespace harness {
namespace {

void WriteStructSizes(JsonWriter& json) {
  json.Key("sizes");
  json.BeginObject();
  for (size_t i = 0; i < tflm::kStructSizeCount; ++i) {
    const tflm::StructSize& size = tflm::kStructSizes[i];
    if (size.size_bytes > 0) {
      json.Member(size.name, size.size_bytes);
    }
  }
  json.EndObject();
}

void WriteModel(JsonWriter& json, const ModelImage& image) {
  json.BeginObject();
  json.Member("state", ModelStateName(image.state));
  json.Member("size_bytes", image.size);
  json.Key("sha256");
  json.Hex(image.sha256, image.sha256 == nullptr ? 0 : kSha256Bytes);
  json.EndObject();
}

void WriteModels(JsonWriter& json) {
  json.Key("model");
  WriteModel(json, ModelImageAt(0));
  json.Key("models");
  json.BeginArray();
  for (uint32_t number = 0; number < ModelImageCount(); ++number) {
    WriteModel(json, ModelImageAt(number));
  }
  json.EndArray();
}

void AnswerHello(const FlatObject&) { SendHello(); }

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
    {"hello", AnswerHello},   {"allocate", AnswerAllocate}, {"share", AnswerShare},   {"input", AnswerInput},
    {"fill", AnswerFill},     {"repaint", AnswerRepaint},   {"invoke", AnswerInvoke}, {"scan", AnswerScan},
    {"output", AnswerOutput}, {"reset", AnswerReset},
};

}  // namespace

void SendHello() {
  const platform::Region image = platform::FirmwareImage();
  const platform::Region unit = platform::UniqueId();
  Frame frame("hello");
  frame->Member("protocol", kProtocolVersion);
  frame->Member("build_id", kBuildId);
  frame->Member("image_crc32", Crc32(0, image.start, image.size));
  frame->Member("board", kBoardId);
  frame->Member("tflm", kTflmGeneration);
  frame->Key("unit");
  frame->Hex(unit.start, unit.size);
  frame->Member("arena_max_bytes", MaxArenaBytes());
  frame->Member("line_bytes", static_cast<uint32_t>(kCommandLineBytes));
  frame->Member("clock_hz", platform::ClockHz());
  frame->Member("clock_source", platform::ClockSource());
  frame->Member("stack_bytes", platform::Stack().size);
  frame->Member("reset", platform::ResetReason());
  WriteStructSizes(frame.json());
  frame->Member("records", static_cast<uint32_t>(tflm::kRecords));
  frame->Member("share_max", tflm::kShareMax);
  WriteModels(frame.json());
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
