#include "app/misbehave.h"

#ifdef HARNESS_TEST_FAULTS

#include <cstdint>

#include "app/platform.h"
#include "tflm/tflm.h"

namespace harness {
namespace {

enum Misdeed : uint8_t {
  kNone,
  kOverrunGuard = 0xE1,
  kOverrunArena,
  kOverrunStack,
  kHang,
  kOverrunGap,
  kStoreIntoModel
};

constexpr int32_t kOperator = 1;

uint8_t misdeed = kNone;

[[gnu::noinline]] void OverrunGuard(const PaintedMemory& arena) {
  volatile uint8_t* end = arena.start() + arena.size();
  end[4] = 0x11;
}

// Writes on until there is no more RAM.
[[gnu::noinline]] void OverrunArena(const PaintedMemory& arena) {
  for (volatile uint8_t* at = arena.start() + arena.size();; ++at) {
    *at = 0x11;
  }
}

[[gnu::noinline]] uint32_t OverrunStack(uint32_t depth) {
  volatile uint32_t frame[64];
  frame[0] = depth;
  return depth == UINT32_MAX ? 0 : OverrunStack(depth + 1) + frame[0];
}

[[gnu::noinline]] void Hang() {
  for (;;) {
    asm volatile("");
  }
}

// The gap between head and tail holds paint while a model runs; here the first paint after the middle is overwritten.
[[gnu::noinline]] void OverrunGap(const PaintedMemory& arena) {
  volatile uint8_t* middle = arena.start() + arena.size() / 2;
  *middle = 0x11;
}

// Flash does not take it, where the chip guards it.
[[gnu::noinline]] void StoreIntoModel() {
  volatile uint8_t* model = platform::ModelFlash().start;
  *model = 0x11;
}

}  // namespace

void PrepareMisdeed(uint32_t model) { misdeed = tflm::Input(model, 0).data[0]; }

void Misbehave(const PaintedMemory& arena) {
  if (tflm::RunningOperator().index != kOperator) {
    return;
  }
  switch (misdeed) {
    case kOverrunGuard:
      return OverrunGuard(arena);
    case kOverrunArena:
      return OverrunArena(arena);
    case kOverrunStack:
      OverrunStack(0);
      return;
    case kHang:
      return Hang();
    case kOverrunGap:
      return OverrunGap(arena);
    case kStoreIntoModel:
      return StoreIntoModel();
    default:
      return;
  }
}

}  // namespace harness

#endif
