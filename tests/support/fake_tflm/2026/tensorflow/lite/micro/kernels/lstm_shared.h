#pragma once

namespace tflite {

struct OpDataLSTM;

}  // namespace tflite
