// TfLiteTensor is alike in all generations. To be included behind the headers of the one at hand.
#pragma once

#include "tflm/tflm.h"

namespace tflm {

// The types that all generations have.
inline const char* TypeName(TfLiteType type) {
  switch (type) {
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
