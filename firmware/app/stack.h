// The stack's high-water mark.
#pragma once

#include <cstdint>

namespace harness {

// Paints the free part of the stack. False when the paint does not read back.
bool PaintFreeStack(uint8_t magic);

// The deepest use of the stack since it was painted, in bytes.
uint32_t StackUsedBytes();

}  // namespace harness
