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

  const TFLMRegistration* FindOp(const char*) const override { return nullptr; }

  TfLiteStatus AddAssignVariable(const TFLMRegistration& registration = Register_ASSIGN_VARIABLE()) {
    return AddBuiltin(BuiltinOperator_ASSIGN_VARIABLE, registration);
  }

  TfLiteStatus AddConcatenation(const TFLMRegistration& registration = Register_CONCATENATION()) {
    return AddBuiltin(BuiltinOperator_CONCATENATION, registration);
  }

  TfLiteStatus AddConv2D(const TFLMRegistration& registration = Register_CONV_2D()) {
    return AddBuiltin(BuiltinOperator_CONV_2D, registration);
  }

  TfLiteStatus AddFullyConnected(const TFLMRegistration& registration = Register_FULLY_CONNECTED()) {
    return AddBuiltin(BuiltinOperator_FULLY_CONNECTED, registration);
  }

  TfLiteStatus AddGatherNd(const TFLMRegistration& registration = Register_GATHER_ND()) {
    return AddBuiltin(BuiltinOperator_GATHER_ND, registration);
  }

  TfLiteStatus AddMean(const TFLMRegistration& registration = Register_MEAN()) {
    return AddBuiltin(BuiltinOperator_MEAN, registration);
  }

  TfLiteStatus AddNeg(const TFLMRegistration& registration = Register_NEG()) {
    return AddBuiltin(BuiltinOperator_NEG, registration);
  }

  TfLiteStatus AddReadVariable(const TFLMRegistration& registration = Register_READ_VARIABLE()) {
    return AddBuiltin(BuiltinOperator_READ_VARIABLE, registration);
  }

  TfLiteStatus AddReduceMax(const TFLMRegistration& registration = Register_REDUCE_MAX()) {
    return AddBuiltin(BuiltinOperator_REDUCE_MAX, registration);
  }

  TfLiteStatus AddRelu6(const TFLMRegistration& registration = Register_RELU6()) {
    return AddBuiltin(BuiltinOperator_RELU6, registration);
  }

  TfLiteStatus AddSelectV2(const TFLMRegistration& registration = Register_SELECT_V2()) {
    return AddBuiltin(BuiltinOperator_SELECT_V2, registration);
  }

  TfLiteStatus AddStridedSlice(const TFLMRegistration& registration = Register_STRIDED_SLICE()) {
    return AddBuiltin(BuiltinOperator_STRIDED_SLICE, registration);
  }

  TfLiteStatus AddTransposeConv(const TFLMRegistration& registration = Register_TRANSPOSE_CONV()) {
    return AddBuiltin(BuiltinOperator_TRANSPOSE_CONV, registration);
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
