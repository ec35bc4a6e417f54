// The model region of the flash: a header of 128 bytes, little endian, and the model behind it.
#pragma once

#include <cstdint>

#include "app/platform.h"

namespace harness {

constexpr uint32_t kSha256Bytes = 32;

enum class ModelState { kOk, kMissing, kBadHeader, kBadCrc, kOtherBuild, kBadSchema };

struct ModelImage {
  ModelState state;
  const uint8_t* data;    // the flatbuffer; set only when the header is sound
  uint32_t size;          // in bytes
  const uint8_t* sha256;  // as the host computed it; set only when the header is sound
};

// Checks what lies in `region` for a firmware of `build_id`. Does not look into the flatbuffer.
ModelImage ReadModelImage(const platform::Region& region, const char* build_id);

const char* ModelStateName(ModelState state);

}  // namespace harness
