#pragma once

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
      if (registrations_[i].builtin_code == op) {
        return &registrations_[i];
      }
    }
    return nullptr;
  }

  TfLiteStatus AddAssignVariable(const TFLMRegistration& registration = Register_ASSIGN_VARIABLE()) {
    return AddBuiltin(BuiltinOperator_ASSIGN_VARIABLE, registration);
  }

  TfLiteStatus AddNeg(const TFLMRegistration& registration = Register_NEG()) {
    return AddBuiltin(BuiltinOperator_NEG, registration);
  }

  TfLiteStatus AddReadVariable(const TFLMRegistration& registration = Register_READ_VARIABLE()) {
    return AddBuiltin(BuiltinOperator_READ_VARIABLE, registration);
  }

  TfLiteStatus AddVarHandle(const TFLMRegistration& registration = Register_VAR_HANDLE()) {
    return AddBuiltin(BuiltinOperator_VAR_HANDLE, registration);
  }

 private:
  TfLiteStatus AddBuiltin(BuiltinOperator op, const TFLMRegistration& registration) {
    if (count_ == tOpCount) {
      MicroPrintf("Couldn't register builtin op #%d, resolver size is too small (%d).", op, tOpCount);
      return kTfLiteError;
    }
    registrations_[count_] = registration;
    registrations_[count_++].builtin_code = op;
    return kTfLiteOk;
  }

  TFLMRegistration registrations_[tOpCount];
  unsigned int count_ = 0;
};

}  // namespace tflite
