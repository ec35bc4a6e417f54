#include "app/arena_answers.h"

#include "app/fault.h"
#include "app/json_writer.h"
#include "app/measure.h"
#include "app/model_image.h"
#include "app/replies.h"
#include "app/stack.h"
#include "app/stage.h"
#include "app/tensor_answers.h"
#include "tflm/tflm.h"

namespace harness {
namespace {

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

// The model that a command's "model" and "variables" describe; an error frame is sent when it cannot be run.
bool GetModel(const FlatObject& command, tflm::Model* model) {
  *model = {command.NumberOr("model", 0), nullptr, command.NumberOr("variables", 0)};
  if (model->number >= ModelImageCount()) {
    SendError("bad_argument", "model: there are fewer models in flash");
    return false;
  }
  const ModelImage& image = ModelImageAt(model->number);
  if (image.state != ModelState::kOk) {
    SendError("no_model", ModelStateName(image.state));
    return false;
  }
  if (model->variables > 0 && !tflm::kHasVariables) {
    SendError("unsupported", "variables: this TFLM has no resource variables");
    return false;
  }
  model->data = image.data;
  return true;
}

void WriteSections(JsonWriter& json) {
  json.Key("sections");
  json.BeginObject();
  for (size_t i = 0; i < tflm::SectionCount(); ++i) {
    const tflm::Section section = tflm::RecordedSection(i);
    json.Key(section.name);
    json.BeginObject();
    json.Member("requested_bytes", section.requested_bytes);
    json.Member("used_bytes", section.used_bytes);
    json.Member("count", section.count);
    json.EndObject();
  }
  json.EndObject();
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

void SendAllocated(uint32_t model, const Allocated& result) {
  const uint32_t stack_used_bytes = StackUsedBytes();
  Frame frame("allocated");
  frame->Member("status", result.ok ? "ok" : "error");
  frame->Member("arena_bytes", result.arena_bytes);
  frame->Member("used_bytes", result.usage.used_bytes);
  frame->Member("head_bytes", result.usage.head_bytes);
  frame->Member("tail_bytes", result.usage.tail_bytes);
  frame->Member("ticks", result.ticks);
  frame->Member("paint_ok", result.paint_ok);
  frame->Member("stack_used_bytes", stack_used_bytes);
  WriteTensors(frame.json(), model, result.ok);
  if (result.ok && tflm::SectionCount() > 0) {
    WriteSections(frame.json());
  }
  WriteRuns(frame.json(), result.untouched);
}

}  // namespace

void AnswerAllocate(const FlatObject& command) {
  uint32_t arena_bytes = 0;
  uint8_t magic = 0;
  tflm::Model model;
  if (!command.GetNumber("arena_bytes", &arena_bytes) || arena_bytes > MaxArenaBytes()) {
    return SendError("bad_argument", "arena_bytes: not a number up to arena_max_bytes");
  }
  if (!GetMagic(command, &magic) || !GetModel(command, &model)) {
    return;
  }
  const bool record = command.NumberOr("record", 0) != 0;
  if (record && !tflm::kRecords) {
    return SendError("unsupported", "record: this TFLM does not record what it allocates");
  }
  if (AllocateWasTried()) {
    return SendError("reset_first", "TFLM's kernels keep state: one allocate per reset");
  }
  EnterStage(Stage::kAllocate);
  SendAllocated(model.number, Allocate(model, arena_bytes, magic, record));
}

void AnswerShare(const FlatObject& command) {
  tflm::Model model;
  if (tflm::kShareMax == 1) {
    return SendError("unsupported", "this TFLM runs one model per arena");
  }
  if (!IsAnyAllocated()) {
    return SendError("not_allocated", "allocate has to succeed first");
  }
  if (!GetModel(command, &model)) {
    return;
  }
  if (model.number >= tflm::kShareMax || IsAllocated(model.number)) {
    return SendError("bad_argument", "model: it has its place in the arena, or its number is too large");
  }
  EnterStage(Stage::kAllocate);
  SendAllocated(model.number, ShareArena(model));
}

void AnswerRepaint(const FlatObject& command) {
  if (!IsAnyAllocated()) {
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
  const uint32_t model = command.NumberOr("model", 0);
  if (!IsAllocated(model)) {
    return SendError("not_allocated", "allocate has to succeed first");
  }
  EnterStage(Stage::kInvoke);
  const Invoked result = Invoke(model, command.NumberOr("watch", 0) != 0);
  const uint32_t stack_used_bytes = StackUsedBytes();
  Frame frame("invoked");
  frame->Member("status", result.ok ? "ok" : "error");
  frame->Member("ticks", result.ticks);
  frame->Member("stack_used_bytes", stack_used_bytes);
  WriteOperator(frame.json(), result.culprit);
}

void AnswerScan(const FlatObject&) {
  if (!IsAnyAllocated()) {
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

}  // namespace harness
