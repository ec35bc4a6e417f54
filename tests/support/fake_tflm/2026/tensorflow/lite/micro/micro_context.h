#pragma once

#include "tensorflow/lite/c/common.h"

namespace tflite {

const TfLiteStatus kTfLiteAbort = static_cast<TfLiteStatus>(15);

}  // namespace tflite
