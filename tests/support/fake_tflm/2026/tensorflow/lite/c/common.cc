#include "tensorflow/lite/c/common.h"

#ifndef TF_LITE_STATIC_MEMORY
#include <cstdlib>
#endif

extern "C" {

int TfLiteIntArrayEqual(const TfLiteIntArray* a, const TfLiteIntArray* b) {
  if (a->size != b->size) {
    return 0;
  }
  for (int i = 0; i < a->size; ++i) {
    if (a->data[i] != b->data[i]) {
      return 0;
    }
  }
  return 1;
}

#ifndef TF_LITE_STATIC_MEMORY
// Nothing in this library calls it, nor does a microcontroller.
TfLiteIntArray* TfLiteIntArrayCreate(int size) {
  auto* array = static_cast<TfLiteIntArray*>(malloc(sizeof(TfLiteIntArray) + static_cast<size_t>(size) * sizeof(int)));
  if (array != nullptr) {
    array->size = size;
  }
  return array;
}
#endif
}
