// CRC-32 as zlib computes it (IEEE 802.3, reflected).
#pragma once

#include <cstddef>
#include <cstdint>

namespace harness {

// The CRC of what came before (0 at the start) with `size` more bytes.
uint32_t Crc32(uint32_t crc, const void* data, size_t size);

}  // namespace harness
