// printf's formatting without libc's, which needs a heap.
#pragma once

#include <cstdarg>
#include <cstddef>

namespace harness {

// As vsnprintf: writes `size` bytes at most, the terminating zero included, and returns the length of the whole text.
// Knows %d %i %u %x %X %p %c %s %f %e %g and %%, with all lengths. Flags and widths are read over, and so is a
// precision except that of %s; %f, %e and %g give 6 decimals up to 10^9, and "?" beyond.
size_t FormatText(char* buffer, size_t size, const char* format, va_list arguments);

}  // namespace harness
