// The models in flash. Each lies behind a header of 128 bytes, little endian; the next header is at the next multiple
// of 16 bytes.
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

// Looks at what lies in the model region. Before all the others.
void LoadModelImages();

// At least 1: what lies where the first model should be counts, whatever it is.
uint32_t ModelImageCount();
const ModelImage& ModelImageAt(uint32_t number);

const char* ModelStateName(ModelState state);

}  // namespace harness
