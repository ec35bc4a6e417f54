// What TFLM has to say, line by line.
#pragma once

#include <cstdarg>
#include <cstddef>
#include <cstring>

#include "app/format_text.h"
#include "tflm/tflm.h"

namespace tflm {

// Longer lines lose their end.
constexpr size_t kLineBytes = 256;

inline void LogLines(const char* text) {
  while (*text != '\0') {
    const size_t length = strcspn(text, "\r\n");
    if (length > 0) {
      char line[kLineBytes];
      const size_t kept = length < sizeof line ? length : sizeof line - 1;
      memcpy(line, text, kept);
      line[kept] = '\0';
      Log(line);
    }
    text += text[length] == '\0' ? length : length + 1;
  }
}

inline void LogFormatted(const char* format, va_list arguments) {
  char text[kLineBytes];
  harness::FormatText(text, sizeof text, format, arguments);
  LogLines(text);
}

}  // namespace tflm
