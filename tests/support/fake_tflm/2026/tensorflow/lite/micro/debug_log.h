// What an application has to give.
#pragma once

#include <cstdarg>
#include <cstddef>

extern "C" {
void DebugLog(const char* format, va_list args);
int DebugVsnprintf(char* buffer, size_t buf_size, const char* format, va_list vlist);
}
