#include "app/paint.h"

#include <cstring>

namespace harness {
namespace {

// Adds `run` to the end of the list; when the list is full, the shortest run makes room.
size_t KeepLongest(const Run& run, Run* runs, size_t count, size_t capacity) {
  if (count == capacity) {
    size_t shortest = 0;
    for (size_t i = 1; i < count; ++i) {
      if (runs[i].size < runs[shortest].size) {
        shortest = i;
      }
    }
    if (run.size <= runs[shortest].size) {
      return count;
    }
    memmove(&runs[shortest], &runs[shortest + 1], (count - shortest - 1) * sizeof(Run));
    --count;
  }
  runs[count] = run;
  return count + 1;
}

}  // namespace

void PaintedMemory::Paint(uint32_t from, uint32_t to) const { memset(start_ + from, magic_, to - from); }

Written PaintedMemory::FindWritten(uint32_t from, uint32_t to) const {
  Written written{0, 0, 0};
  for (uint32_t i = from; i < to; ++i) {
    if (start_[i] == magic_) {
      continue;
    }
    if (written.count == 0) {
      written.first = i;
    }
    written.last = i;
    ++written.count;
  }
  return written;
}

Run PaintedMemory::NextRun(uint32_t from, uint32_t to) const {
  while (from < to && start_[from] != magic_) {
    ++from;
  }
  uint32_t end = from;
  while (end < to && start_[end] == magic_) {
    ++end;
  }
  return {from, end - from};
}

Run PaintedMemory::LongestRun(uint32_t from, uint32_t to) const {
  Run longest{from, 0};
  for (Run run = NextRun(from, to); run.size > 0; run = NextRun(run.offset + run.size, to)) {
    if (run.size > longest.size) {
      longest = run;
    }
  }
  return longest;
}

uint32_t PaintedMemory::CountUntouched(uint32_t from, uint32_t to) const {
  return (to - from) - FindWritten(from, to).count;
}

size_t PaintedMemory::UntouchedRuns(uint32_t min_size, Run* runs, size_t capacity) const {
  size_t count = 0;
  for (Run run = NextRun(0, size_); run.size > 0; run = NextRun(run.offset + run.size, size_)) {
    if (run.size >= min_size) {
      count = KeepLongest(run, runs, count, capacity);
    }
  }
  return count;
}

}  // namespace harness
