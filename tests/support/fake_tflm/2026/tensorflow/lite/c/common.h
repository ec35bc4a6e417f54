// The C API's types, as far as the firmware's layer or this library touches them.
#pragma once

#include <cstddef>
#include <cstdint>

enum TfLiteStatus { kTfLiteOk = 0, kTfLiteError = 1 };

enum TfLiteType {
  kTfLiteNoType = 0,
  kTfLiteFloat32 = 1,
  kTfLiteInt32 = 2,
  kTfLiteUInt8 = 3,
  kTfLiteInt64 = 4,
  kTfLiteBool = 6,
  kTfLiteInt16 = 7,
  kTfLiteComplex64 = 8,
  kTfLiteInt8 = 9,
  kTfLiteFloat16 = 10,
  kTfLiteFloat64 = 11,
  kTfLiteUInt64 = 13,
  kTfLiteUInt32 = 16,
  kTfLiteUInt16 = 17,
  kTfLiteInt4 = 18,
};

enum TfLiteQuantizationType { kTfLiteNoQuantization = 0, kTfLiteAffineQuantization = 1 };
enum TfLiteAllocationType { kTfLiteMemNone = 0, kTfLiteMmapRo, kTfLiteArenaRw };

struct TfLiteIntArray {
  int size;
  int data[];
};

extern "C" int TfLiteIntArrayEqual(const TfLiteIntArray* a, const TfLiteIntArray* b);
#ifndef TF_LITE_STATIC_MEMORY
extern "C" TfLiteIntArray* TfLiteIntArrayCreate(int size);
#endif

struct TfLiteFloatArray {
  int size;
  float data[];
};

struct TfLiteQuantizationParams {
  float scale;
  int32_t zero_point;
};

struct TfLiteQuantization {
  TfLiteQuantizationType type;
  void* params;
};

struct TfLiteAffineQuantization {
  TfLiteFloatArray* scale;
  TfLiteIntArray* zero_point;
  int32_t quantized_dimension;
};

union TfLitePtrUnion {
  void* data;
  char* raw;
  uint8_t* uint8;
  int8_t* int8;
};

struct TfLiteTensor {
  TfLiteQuantization quantization;
  TfLiteQuantizationParams params;
  TfLitePtrUnion data;
  TfLiteIntArray* dims;
  size_t bytes;
  TfLiteType type;
  TfLiteAllocationType allocation_type;
  bool is_variable;
#ifndef TF_LITE_STATIC_MEMORY  // what a dynamic allocation and a delegate need
  void* unused[6];
#endif
};

struct TfLiteEvalTensor {
  TfLitePtrUnion data;
  TfLiteIntArray* dims;
  TfLiteType type;
};

struct TfLiteNode {
  TfLiteIntArray* inputs;
  TfLiteIntArray* outputs;
  TfLiteIntArray* intermediates;
  void* user_data;
  void* builtin_data;
  const void* custom_initial_data;
  int custom_initial_data_size;
#ifndef TF_LITE_STATIC_MEMORY
  void* unused[3];
#endif
};

namespace tflite {
class MicroAllocator;
class MicroProfilerInterface;
class MicroResourceVariables;
class Model;
}  // namespace tflite

// What a kernel of this library gets.
struct TfLiteContext {
  TfLiteEvalTensor* tensors;
  tflite::MicroAllocator* allocator;
  tflite::MicroResourceVariables* variables;
  tflite::MicroProfilerInterface* profiler;
  const tflite::Model* model;
};

// `node->custom_initial_data` is the operator in the model; `node->user_data` has `user_data_bytes`.
struct TFLMRegistration {
  TfLiteStatus (*prepare)(TfLiteContext* context, TfLiteNode* node);
  TfLiteStatus (*invoke)(TfLiteContext* context, TfLiteNode* node);
  size_t builtin_data_bytes;
  size_t builtin_data_alignment;
  size_t user_data_bytes;
  int32_t builtin_code;
  const char* custom_name;
};
