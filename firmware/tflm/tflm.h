// The thin layer over one TFLM generation. Nothing above this header knows which.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tflm {

constexpr size_t kMaxRank = 8;

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

struct StructSize {
  const char* name;  // the C++ type's name
  uint32_t size_bytes;
};

// An operator that TFLM runs, to prepare or to invoke it.
struct Running {
  int32_t index;      // its number in the model; -1 when none runs
  const char* name;   // TFLite's name of its kind, such as "CONV_2D"
  uint32_t function;  // the address of its kernel's function
};

// The generation's name, such as "2020-07".
extern const char kGeneration[];
// sizeof() of the structures that TFLM puts into the arena.
extern const StructSize kStructSizes[];
extern const size_t kStructSizeCount;

// Whether the model's schema is the one that this generation reads.
bool SchemaIsSupported(const uint8_t* model);

// Makes the one interpreter. TFLM's kernels keep static state, so that it can be made only once per reset.
// False when it refuses; the reason has then gone to Log().
bool Create(const uint8_t* model, uint8_t* arena, uint32_t arena_bytes);
bool Allocate();
bool Invoke();

// Only after Allocate() succeeded.
ArenaUsage Usage();
uint32_t InputCount();
uint32_t OutputCount();
Tensor Input(uint32_t index);
Tensor Output(uint32_t index);

// Works inside a fault handler.
Running RunningOperator();

// Given by the application: takes what TFLM has to say, without a newline.
void Log(const char* text);
// Given by the application: called around each operator, while RunningOperator() tells which.
void OperatorStarts();
void OperatorEnds();

}  // namespace tflm
