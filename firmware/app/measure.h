// One measurement: paint, AllocateTensors, paint the free middle again, Invoke, scan.
#pragma once

#include <cstddef>
#include <cstdint>

#include "app/paint.h"
#include "tflm/tflm.h"

namespace harness {

constexpr uint32_t kGuardBytes = 64;
constexpr uint32_t kArenaAlignment = 16;

// Untouched runs that are worth telling, and how many at most.
constexpr uint32_t kMinRunBytes = 16;
constexpr size_t kMaxRuns = 48;

struct UntouchedRuns {
  Run runs[kMaxRuns];
  size_t count;
};

struct Allocated {
  bool ok;
  bool paint_ok;
  uint32_t arena_bytes;
  uint32_t ticks;
  tflm::ArenaUsage usage;  // all 0 unless ok
  UntouchedRuns untouched;
};

struct Invoked {
  bool ok;
  uint32_t ticks;
  tflm::Running culprit;  // when watched: the first operator that wrote where nothing may be written
};

struct Scanned {
  Run gap;         // the longest run between head and tail that still is paint
  Written middle;  // what was written between head and tail
  uint32_t tail_untouched_bytes;
  Written guard_low;  // offsets count from the guard band's first byte
  Written guard_high;
  UntouchedRuns untouched;  // in the whole arena, of the paint of before AllocateTensors
};

// The largest arena that fits between its guard bands.
uint32_t MaxArenaBytes();

// Whether Allocate() was called since the reset, and whether a model, or any, has its place in the arena.
bool AllocateWasTried();
bool IsAllocated(uint32_t model);
bool IsAnyAllocated();

// Once per reset: TFLM's kernels keep static state. `arena_bytes` is at most MaxArenaBytes().
Allocated Allocate(const tflm::Model& model, uint32_t arena_bytes, uint8_t magic, bool record);

// These only when IsAnyAllocated().
// Adds another model to the arena. When that fails, no model has its place any more.
Allocated ShareArena(const tflm::Model& model);
// Gives the free middle and the guards another paint; head and tail stay.
void Repaint(uint8_t magic);
// To watch is to look after each operator for writes where nothing may be written, which takes time.
Invoked Invoke(uint32_t model, bool watch);
Scanned Scan();

}  // namespace harness
