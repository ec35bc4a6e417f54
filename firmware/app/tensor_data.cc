#include "app/tensor_data.h"

#include <cstring>

#include "app/number_text.h"

namespace harness {
namespace {

bool IsHex(std::string_view text) {
  for (char c : text) {
    if (HexDigitValue(c) < 0) {
      return false;
    }
  }
  return text.size() % 2 == 0;
}

}  // namespace

bool WriteHex(const tflm::Tensor& tensor, uint32_t offset, std::string_view hex) {
  const size_t size = hex.size() / 2;
  if (!IsHex(hex) || offset > tensor.size_bytes || size > tensor.size_bytes - offset) {
    return false;
  }
  for (size_t i = 0; i < size; ++i) {
    tensor.data[offset + i] = static_cast<uint8_t>(HexDigitValue(hex[2 * i]) << 4 | HexDigitValue(hex[2 * i + 1]));
  }
  return true;
}

void FillWithPattern(const tflm::Tensor& tensor) {
  memset(tensor.data, 0, tensor.size_bytes);
  const uint32_t count = tensor.element_bytes > 0 ? tensor.size_bytes / tensor.element_bytes : 0;
  for (uint32_t i = 0; i < count; ++i) {
    uint8_t* element = tensor.data + i * tensor.element_bytes;
    if (tensor.is_float32) {
      const float value = 1.0f + 0.5f * static_cast<float>(i % 16);
      memcpy(element, &value, sizeof value);
    } else {
      *element = static_cast<uint8_t>(i * 37 + 11);
    }
  }
}

}  // namespace harness
