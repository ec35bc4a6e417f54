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
  Run gap;            // the longest run between head and tail that still is paint
  Written middle;     // what was written between head and tail
  uint32_t tail_untouched_bytes;
  Written guard_low;  // offsets count from the guard band's first byte
  Written guard_high;
  UntouchedRuns untouched;  // in the whole arena, of the paint of before AllocateTensors
};

// The largest arena that fits between its guard bands.
uint32_t MaxArenaBytes();

// Whether Allocate() was called since the reset, and whether it succeeded.
bool AllocateWasTried();
bool IsAllocated();

// Once per reset: TFLM's kernels keep static state. `arena_bytes` is at most MaxArenaBytes().
Allocated Allocate(const uint8_t* model, uint32_t arena_bytes, uint8_t magic);
// These only when IsAllocated(). Repaint() gives the free middle and the guards another paint; head and tail stay.
void Repaint(uint8_t magic);
// To watch is to look for such writes after each operator, which takes time.
Invoked Invoke(bool watch);
Scanned Scan();

}  // namespace harness
