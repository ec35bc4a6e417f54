// TfLiteTensor is alike in all generations. To be included behind the headers of the one at hand.
#pragma once

#include "tflm/tflm.h"

namespace tflm {

// Types that have come since 2020; an older release has no names for their numbers.
constexpr int kTypeUInt64 = 13;
constexpr int kTypeUInt32 = 16;
constexpr int kTypeUInt16 = 17;
constexpr int kTypeInt4 = 18;

inline const char* TypeName(TfLiteType type) {
  switch (static_cast<int>(type)) {
    case kTfLiteFloat32:
      return "float32";
    case kTfLiteInt32:
      return "int32";
    case kTfLiteUInt8:
      return "uint8";
    case kTfLiteInt64:
      return "int64";
    case kTfLiteBool:
      return "bool";
    case kTfLiteInt16:
      return "int16";
    case kTfLiteComplex64:
      return "complex64";
    case kTfLiteInt8:
      return "int8";
    case kTfLiteFloat16:
      return "float16";
    case kTfLiteFloat64:
      return "float64";
    case kTypeUInt64:
      return "uint64";
    case kTypeUInt32:
      return "uint32";
    case kTypeUInt16:
      return "uint16";
    case kTypeInt4:
      return "int4";
    default:
      return "unknown";
  }
}

inline uint32_t ElementBytes(const TfLiteTensor& tensor) {
  uint32_t elements = 1;
  for (int i = 0; i < tensor.dims->size; ++i) {
    elements *= static_cast<uint32_t>(tensor.dims->data[i]);
  }
  return elements > 0 ? tensor.bytes / elements : 0;
}

inline Tensor Describe(const TfLiteTensor& tensor) {
  Tensor description{};
  description.type = TypeName(tensor.type);
  description.element_bytes = ElementBytes(tensor);
  description.is_float32 = tensor.type == kTfLiteFloat32;
  for (int i = 0; i < tensor.dims->size && description.rank < kMaxRank; ++i) {
    description.shape[description.rank++] = tensor.dims->data[i];
  }
  description.data = tensor.data.uint8;
  description.size_bytes = tensor.bytes;
  return description;
}

}  // namespace tflm
