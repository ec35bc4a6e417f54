#include "app/stack.h"

#include "app/paint.h"
#include "app/platform.h"

namespace harness {
namespace {

// Room for the frames of the functions that do the painting.
constexpr uint32_t kMarginBytes = 256;

PaintedMemory free_stack;

}  // namespace

bool PaintFreeStack(uint8_t magic) {
  const platform::Region stack = platform::Stack();
  const auto free_bytes = static_cast<uint32_t>(platform::StackPointer() - stack.start);
  free_stack = PaintedMemory(stack.start, free_bytes > kMarginBytes ? free_bytes - kMarginBytes : 0, magic);
  free_stack.Paint();
  return free_stack.FindWritten().count == 0;
}

uint32_t StackUsedBytes() {
  const Written written = free_stack.FindWritten();
  return platform::Stack().size - (written.count > 0 ? written.first : free_stack.size());
}

}  // namespace harness
