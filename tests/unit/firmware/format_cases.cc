// Formats some texts, one to a line, for test_format_text.py to look at.
#include <climits>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdio>

#include "app/format_text.h"

namespace {

// A buffer of `size` bytes, the terminating zero included; prints what is in it and what was returned.
[[gnu::format(printf, 2, 3)]] void Show(size_t size, const char* format, ...) {
  char* buffer = new char[size];
  va_list arguments;
  va_start(arguments, format);
  const size_t length = harness::FormatText(buffer, size, format, arguments);
  va_end(arguments);
  printf("%zu %s\n", length, size > 0 ? buffer : "");
  delete[] buffer;
}

}  // namespace

int main() {
  constexpr size_t kEnough = 100;
  const char* volatile null = nullptr;  // volatile: or the compiler sees it, and complains
  const char no_end[] = {'a', 'b', 'c'};
  Show(kEnough, "nothing to format");
  Show(kEnough, "%d %i %d", 0, -7, INT32_MIN);
  Show(kEnough, "%u %x %X", UINT32_MAX, 0xBEEFu, 0u);
  Show(kEnough, "%ld %lu %lld %llu", -8L, 9UL, LLONG_MIN, ULLONG_MAX);
  Show(kEnough, "%zu %jd %td %hd %hhu", size_t{10}, intmax_t{-11}, ptrdiff_t{12}, short{13}, static_cast<uint8_t>(14));
  Show(kEnough, "%s|%c|%p", "text", 'c', reinterpret_cast<void*>(0x20000010));
  Show(kEnough, "%s", null);
  Show(kEnough, "%.*s %.2s %.0s", 3, no_end, "xyz", "unseen");
  Show(kEnough, "%5d|%-8s|%08x|%+.3d|%*d %d", 1, "left", 2u, 3, 4, 5, 6);
  Show(kEnough, "%f %.2f %g %e", 1.5, -0.003921569, 1e6, 999999999.0);
  Show(kEnough, "%f %f %f", 1e9, 0.0 / 0.0, -1e300);
  Show(kEnough, "100%% %s", "sure");
  Show(8, "%s", "longer than eight");
  Show(8, "%d", 12345678);
  Show(1, "%d", 5);
  Show(0, "%d", 5);
}
