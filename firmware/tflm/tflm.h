// The thin layer over one TFLM generation. Nothing above this header knows which.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tflm {

constexpr size_t kMaxRank = 8;
// Models have numbers below this.
constexpr uint32_t kMaxModels = 4;

struct Model {
  uint32_t number;
  const uint8_t* data;  // the flatbuffer
  uint32_t variables;   // how many resource variables it needs; 0 where TFLM has none
};

struct Tensor {
  const char* type;  // TFLite's name of the element type, lower case, such as "int8"
  uint32_t element_bytes;
  bool is_float32;
  int32_t shape[kMaxRank];
  uint32_t rank;  // TFLite's rank; dimensions past kMaxRank are left out
  uint8_t* data;
  uint32_t size_bytes;
};

// What AllocateTensors took from the arena: head from the low end up, tail from the high end down.
struct ArenaUsage {
  uint32_t used_bytes;
  uint32_t head_bytes;
  uint32_t tail_bytes;
};

// What TFLM took for one purpose, as it recorded it.
struct Section {
  const char* name;  // as the host's wire.py has it
  uint32_t requested_bytes;
  uint32_t used_bytes;
  uint32_t count;
};

struct StructSize {
  const char* name;     // the C++ type's name, without its namespace
  uint32_t size_bytes;  // 0 for one that this TFLM's headers do not show
};

// An operator that TFLM runs, to prepare or to invoke it.
struct Running {
  int32_t index;      // its number in the model; -1 when none runs
  const char* name;   // TFLite's name of its kind, such as "CONV_2D"
  uint32_t function;  // the address of its kernel's function; 0 when TFLM does not tell
};

// sizeof() of the structures that TFLM puts into the arena, and of an enumeration: -fshort-enums changes it. Of those
// of operators the ones that tell generations apart.
extern const StructSize kStructSizes[];
extern const size_t kStructSizeCount;
// Whether TFLM can record what it allocates.
extern const bool kRecords;
// Whether TFLM has resource variables.
extern const bool kHasVariables;
// How many models can share one arena; 1 where none can.
extern const uint32_t kShareMax;

// Whether the model's schema is the one that this generation reads.
bool SchemaIsSupported(const uint8_t* model);

// Makes the interpreter of the first model. TFLM's kernels keep static state, so that this can be done only once per
// reset. False when TFLM refuses; the reason has then gone to Log().
bool Create(const Model& model, uint8_t* arena, uint32_t arena_bytes, bool record);
// Makes the interpreter of another model, in the arena and by the allocator of the first. Only where kShareMax allows.
bool Share(const Model& model);

// `model` is the number of a model that has an interpreter.
bool Allocate(uint32_t model);

// Only after Allocate() succeeded. Usage and sections are those of all models together.
ArenaUsage Usage();
size_t SectionCount();  // 0 unless Create() was to record
Section RecordedSection(size_t index);
bool Invoke(uint32_t model);
uint32_t InputCount(uint32_t model);
uint32_t OutputCount(uint32_t model);
Tensor Input(uint32_t model, uint32_t index);
Tensor Output(uint32_t model, uint32_t index);

// Works inside a fault handler.
Running RunningOperator();

// Given by the application: takes what TFLM has to say, without a newline.
void Log(const char* text);
// Given by the application: called around each operator, while RunningOperator() tells which.
void OperatorStarts();
void OperatorEnds();

}  // namespace tflm
