// Writing into tensors.
#pragma once

#include <cstdint>
#include <string_view>

#include "tflm/tflm.h"

namespace harness {

// Writes the bytes that `hex` spells to `offset`. False, with nothing written, when they are no hex digits or do not
// lie inside the tensor.
bool WriteHex(const tflm::Tensor& tensor, uint32_t offset, std::string_view hex);

// The fixed pattern of the "fill" command: element i is (i * 37 + 11) mod 256, or 1.0 + 0.5 * (i mod 16) in float32.
void FillWithPattern(const tflm::Tensor& tensor);

}  // namespace harness
