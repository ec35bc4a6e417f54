#pragma once

#include <cstddef>

void MicroPrintf(const char* format, ...);
int MicroSnprintf(char* buffer, size_t buf_size, const char* format, ...);
