#pragma once

#include <cstring>

#include "tensorflow/lite/micro/kernels/micro_ops.h"
#include "tensorflow/lite/micro/micro_log.h"
#include "tensorflow/lite/micro/micro_op_resolver.h"

namespace tflite {

template <unsigned int tOpCount>
class MicroMutableOpResolver : public MicroOpResolver {
 public:
  TF_LITE_REMOVE_VIRTUAL_DELETE

  explicit MicroMutableOpResolver() {}

  const TFLMRegistration* FindOp(BuiltinOperator op) const override {
    for (unsigned int i = 0; i < count_; ++i) {
      if (registrations_[i].builtin_code == op && op != BuiltinOperator_CUSTOM) {
        return &registrations_[i];
      }
    }
    return nullptr;
  }

  const TFLMRegistration* FindOp(const char* op) const override {
    for (unsigned int i = 0; i < count_; ++i) {
      if (registrations_[i].custom_name != nullptr && strcmp(registrations_[i].custom_name, op) == 0) {
        return &registrations_[i];
      }
    }
    return nullptr;
  }

  TfLiteStatus AddCustom(const char* name, const TFLMRegistration* registration) {
    if (count_ == tOpCount) {
      MicroPrintf("Couldn't register custom op '%s', resolver size is too small (%d)", name, tOpCount);
      return kTfLiteError;
    }
    registrations_[count_] = *registration;
    registrations_[count_].builtin_code = BuiltinOperator_CUSTOM;
    registrations_[count_++].custom_name = name;
    return kTfLiteOk;
  }

  TfLiteStatus AddCounter() { return AddCustom("COUNTER", tflite::Register_COUNTER()); }

  TfLiteStatus AddNeg(const TFLMRegistration& registration = Register_NEG()) {
    return AddBuiltin(BuiltinOperator_NEG, registration);
  }

 private:
  TfLiteStatus AddBuiltin(BuiltinOperator op, const TFLMRegistration& registration) {
    if (count_ == tOpCount) {
      MicroPrintf("Couldn't register builtin op #%d, resolver size is too small (%d).", op, tOpCount);
      return kTfLiteError;
    }
    registrations_[count_] = registration;
    registrations_[count_].custom_name = nullptr;
    registrations_[count_++].builtin_code = op;
    return kTfLiteOk;
  }

  TFLMRegistration registrations_[tOpCount];
  unsigned int count_ = 0;
};

}  // namespace tflite
