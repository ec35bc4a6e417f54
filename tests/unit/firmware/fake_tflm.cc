// A TFLM whose "model" says what it does to the arena, so that the scans can be checked against what is known.
#include <cstdlib>
#include <cstring>

#include "tflm/tflm.h"

uint8_t* StackByte(uint32_t depth);

namespace tflm {
namespace {

struct Write {
  int32_t offset;  // from the arena's start; may lie outside
  uint32_t size;
};

// Little endian, as test_firmware.py packs it.
struct Script {
  uint32_t schema;
  uint32_t refuse;  // 1: Create fails, 2: Allocate fails, 3: Invoke fails, 4: Invoke aborts, 5: Output aborts
  uint32_t head_bytes;
  uint32_t tail_bytes;
  Write in_allocate[2];
  Write in_invoke[3];
  uint32_t stack_depth;
  uint32_t input_offset;
  uint32_t input_bytes;
  uint32_t growing_gaps;  // so many bytes are written in Allocate, with gaps of 16, 17, 18, … bytes before them
};

constexpr uint8_t kWritten = 0x33;

const Script* scripts[kMaxModels] = {};
uint32_t variables[kMaxModels] = {};
uint8_t* arena = nullptr;
bool recording = false;

void Make(const Model& model) {
  scripts[model.number] = reinterpret_cast<const Script*>(model.data);
  variables[model.number] = model.variables;
}

template <size_t count>
void Apply(const Write (&writes)[count]) {
  for (const Write& write : writes) {
    memset(arena + write.offset, kWritten, write.size);
  }
}

Tensor DescribeTensor(const Script* script, const char* type, uint32_t element_bytes) {
  Tensor tensor{};
  tensor.type = type;
  tensor.element_bytes = element_bytes;
  tensor.is_float32 = strcmp(type, "float32") == 0;
  tensor.rank = 2;
  tensor.shape[0] = 1;
  tensor.shape[1] = static_cast<int32_t>(script->input_bytes / element_bytes);
  tensor.data = arena + script->input_offset;
  tensor.size_bytes = script->input_bytes;
  return tensor;
}

}  // namespace

const StructSize kStructSizes[] = {{"Write", sizeof(Write)}};
const size_t kStructSizeCount = 1;
const bool kRecords = true;
const bool kHasVariables = true;
const uint32_t kShareMax = 2;

bool SchemaIsSupported(const uint8_t* model) { return reinterpret_cast<const Script*>(model)->schema == 3; }

bool Create(const Model& model, uint8_t* memory, uint32_t, bool record) {
  Make(model);
  arena = memory;
  recording = record;
  Log("made");
  return scripts[model.number]->refuse != 1;
}

bool Share(const Model& model) {
  Make(model);
  return scripts[model.number]->refuse != 1;
}

constexpr Running kNone{-1, "", 0};
Running running = kNone;

Running RunningOperator() { return running; }

bool Allocate(uint32_t model) {
  const Script* script = scripts[model];
  Apply(script->in_allocate);
  uint32_t offset = 0;
  for (uint32_t i = 0; i < script->growing_gaps; ++i) {
    offset += 16 + i;
    arena[offset++] = kWritten;
  }
  return script->refuse != 2;
}

bool Invoke(uint32_t model) {
  const Script* script = scripts[model];
  if (script->refuse == 4) {
    abort();
  }
  running = {0, "QUIET", 0x100};
  OperatorStarts();
  OperatorEnds();
  running = {1, "WRITER", 0x200};
  OperatorStarts();
  Apply(script->in_invoke);
  OperatorEnds();
  running = kNone;
  if (script->stack_depth > 0) {
    *StackByte(script->stack_depth) = kWritten;
  }
  return script->refuse != 3;
}

ArenaUsage Usage() {
  ArenaUsage usage{};
  for (const Script* script : scripts) {
    if (script != nullptr) {
      usage.head_bytes = usage.head_bytes < script->head_bytes ? script->head_bytes : usage.head_bytes;
      usage.tail_bytes += script->tail_bytes;
    }
  }
  usage.used_bytes = usage.head_bytes + usage.tail_bytes;
  return usage;
}

size_t SectionCount() { return recording ? 2 : 0; }

// The fake's variables are in a section of their own, so that their number shows.
Section RecordedSection(size_t index) {
  return index == 0 ? Section{"op_data", 30, 32, 2} : Section{"variables", 0, 0, variables[0] + variables[1]};
}

uint32_t InputCount(uint32_t) { return 2; }
uint32_t OutputCount(uint32_t) { return 1; }

Tensor Input(uint32_t model, uint32_t index) {
  return index == 0 ? DescribeTensor(scripts[model], "int16", 2) : DescribeTensor(scripts[model], "float32", 4);
}

Tensor Output(uint32_t model, uint32_t) {
  if (scripts[model]->refuse == 5) {
    abort();
  }
  return DescribeTensor(scripts[model], "uint8", 1);
}

}  // namespace tflm
