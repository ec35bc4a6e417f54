// What an application has to give.
#pragma once

#include <cstdarg>

namespace tflite {

class ErrorReporter {
 public:
  virtual ~ErrorReporter() {}
  virtual int Report(const char* format, va_list args) = 0;

  int Report(const char* format, ...) {
    va_list args;
    va_start(args, format);
    const int written = Report(format, args);
    va_end(args);
    return written;
  }
};

}  // namespace tflite
