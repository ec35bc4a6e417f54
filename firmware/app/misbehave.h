// What a faulty kernel might do: for tests of what the host makes of it. Without HARNESS_TEST_FAULTS there is nothing
// here.
#pragma once

#include <cstdint>

#include "app/paint.h"

namespace harness {

#ifdef HARNESS_TEST_FAULTS
// The first byte of a model's first input says which misdeed is done when the second operator starts.
void PrepareMisdeed(uint32_t model);
void Misbehave(const PaintedMemory& arena);
#else
inline void PrepareMisdeed(uint32_t) {}
inline void Misbehave(const PaintedMemory&) {}
#endif

}  // namespace harness
