// Painting memory with a magic byte, and finding what is no longer painted.
#pragma once

#include <cstddef>
#include <cstdint>

namespace harness {

// A run of bytes, counted from the start of the memory that was scanned.
struct Run {
  uint32_t offset;
  uint32_t size;
};

// What was written into painted memory. `first` and `last` are offsets; both are 0 when `count` is.
struct Written {
  uint32_t count;
  uint32_t first;
  uint32_t last;
};

class PaintedMemory {
 public:
  PaintedMemory() = default;
  PaintedMemory(uint8_t* start, uint32_t size, uint8_t magic) : start_(start), size_(size), magic_(magic) {}

  void Paint() const { Paint(0, size_); }
  void Paint(uint32_t from, uint32_t to) const;

  // All of these look at the offsets `from` to `to`, `to` excluded.
  Written FindWritten(uint32_t from, uint32_t to) const;
  Written FindWritten() const { return FindWritten(0, size_); }
  Run LongestRun(uint32_t from, uint32_t to) const;
  uint32_t CountUntouched(uint32_t from, uint32_t to) const;

  // The longest untouched runs of `min_size` bytes or more, by offset. Returns how many there are in `runs`.
  size_t UntouchedRuns(uint32_t min_size, Run* runs, size_t capacity) const;

  uint8_t* start() const { return start_; }
  uint32_t size() const { return size_; }
  uint8_t magic() const { return magic_; }

 private:
  // The first untouched run from `from` on; its size is 0 when there is none.
  Run NextRun(uint32_t from, uint32_t to) const;

  uint8_t* start_ = nullptr;
  uint32_t size_ = 0;
  uint8_t magic_ = 0;
};

}  // namespace harness
