#include "tensorflow/lite/micro/micro_log.h"

#include <cstdarg>

#include "tensorflow/lite/micro/debug_log.h"

void MicroPrintf(const char* format, ...) {
  va_list args;
  va_start(args, format);
  DebugLog(format, args);
  DebugLog("\r\n", args);
  va_end(args);
}

int MicroSnprintf(char* buffer, size_t buf_size, const char* format, ...) {
  va_list args;
  va_start(args, format);
  const int length = DebugVsnprintf(buffer, buf_size, format, args);
  va_end(args);
  return length;
}
