// TFLM of 2020-07 (TensorFlow 33689c48).
#include <cstdarg>
#include <cstring>
#include <new>

#include "tensorflow/lite/c/common.h"
#include "tensorflow/lite/core/api/error_reporter.h"
#include "tensorflow/lite/micro/kernels/all_ops_resolver.h"
#include "tensorflow/lite/micro/kernels/micro_ops.h"
#include "tensorflow/lite/micro/micro_allocator.h"
#include "tensorflow/lite/micro/micro_interpreter.h"
#include "tensorflow/lite/micro/micro_string.h"
#include "tensorflow/lite/micro/simple_memory_allocator.h"
#include "tensorflow/lite/schema/schema_generated.h"
#include "tensorflow/lite/version.h"
#include "tflm/tflm.h"

namespace tflm {
namespace {

// This generation tells head and tail only in its log, when it is asked for the total.
constexpr char kTotalFormat[] = "Total buffer usage: %d bytes";
constexpr char kHeadFormat[] = "Head usage: %d bytes";
constexpr char kTailFormat[] = "Tail usage: %d bytes";

// TFLM gives this one a number for its %s.
constexpr char kScratchHandleFormat[] = "Failed to register scratch buffer handle for node %s";

// CIRCULAR_BUFFER's way to say "not yet": the run ends early, and that is no error (circular_buffer.cc).
constexpr int kEndedEarly = -9;
// circular_buffer.cc keeps its state in a static array of this length, and does not check it.
constexpr uint32_t kMaxCircularBuffers = 7;
constexpr char kCircularBuffer[] = "CIRCULAR_BUFFER";

class Reporter : public tflite::ErrorReporter {
 public:
  int Report(const char* format, va_list arguments) override {
    if (strcmp(format, kHeadFormat) == 0) {
      usage_.head_bytes = va_arg(arguments, uint32_t);
    } else if (strcmp(format, kTailFormat) == 0) {
      usage_.tail_bytes = va_arg(arguments, uint32_t);
    } else if (strcmp(format, kScratchHandleFormat) == 0) {
      Log("Failed to register scratch buffer handle");
    } else if (strcmp(format, kTotalFormat) != 0) {
      LogFormatted(format, arguments);
    }
    return 0;
  }

  const ArenaUsage& usage() const { return usage_; }

 private:
  static void LogFormatted(const char* format, va_list arguments) {
    char text[256];
    MicroVsnprintf(text, sizeof text, format, arguments);
    text[strcspn(text, "\r\n")] = '\0';
    Log(text);
  }

  ArenaUsage usage_{0, 0, 0};

  TF_LITE_REMOVE_VIRTUAL_DELETE
};

// All that the sources have: AllOpsResolver leaves out the one custom operator.
class Resolver : public tflite::ops::micro::AllOpsResolver {
 public:
  Resolver() { AddCustom(kCircularBuffer, tflite::ops::micro::Register_CIRCULAR_BUFFER()); }

 private:
  TF_LITE_REMOVE_VIRTUAL_DELETE
};

// ContextHelper::ReportOpError hands its va_list on as if it were the arguments themselves, so that messages of kernels
// come out as noise, or fault. The context is private; an explicit instantiation may name private members ([temp.spec]).
template <TfLiteContext tflite::MicroInterpreter::*member>
struct ContextAccess {
  friend TfLiteContext& ContextOf(tflite::MicroInterpreter& interpreter) { return interpreter.*member; }
};
TfLiteContext& ContextOf(tflite::MicroInterpreter& interpreter);
template struct ContextAccess<&tflite::MicroInterpreter::context_>;

// Static storage without constructors or destructors: nothing runs before Create(), nothing at exit.
template <typename T>
struct Storage {
  alignas(T) uint8_t bytes[sizeof(T)];
};
Storage<Reporter> reporter_storage;
Storage<Resolver> resolver_storage;
Storage<tflite::MicroInterpreter> interpreter_storage;
Reporter* reporter = nullptr;
tflite::MicroInterpreter* interpreter = nullptr;

void ReportOpError(TfLiteContext*, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  reporter->Report(format, arguments);
  va_end(arguments);
}

uint32_t CountCircularBuffers(const tflite::Model& model) {
  uint32_t count = 0;
  for (const tflite::Operator* op : *(*model.subgraphs())[0]->operators()) {
    const tflite::OperatorCode* code = (*model.operator_codes())[op->opcode_index()];
    const bool custom = code->builtin_code() == tflite::BuiltinOperator_CUSTOM && code->custom_code() != nullptr;
    count += custom && strcmp(code->custom_code()->c_str(), kCircularBuffer) == 0;
  }
  return count;
}

const char* TypeName(TfLiteType type) {
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

uint32_t ElementBytes(const TfLiteTensor& tensor) {
  uint32_t elements = 1;
  for (int i = 0; i < tensor.dims->size; ++i) {
    elements *= static_cast<uint32_t>(tensor.dims->data[i]);
  }
  return elements > 0 ? tensor.bytes / elements : 0;
}

Tensor Describe(const TfLiteTensor& tensor) {
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

}  // namespace

const char kGeneration[] = "2020-07";

#define STRUCT_SIZE(type) {#type, sizeof(type)}
const StructSize kStructSizes[] = {
    STRUCT_SIZE(TfLiteTensor),
    STRUCT_SIZE(TfLiteNode),
    STRUCT_SIZE(TfLiteAffineQuantization),
    STRUCT_SIZE(tflite::NodeAndRegistration),
    STRUCT_SIZE(tflite::SimpleMemoryAllocator),
    STRUCT_SIZE(tflite::internal::ScratchBufferHandle),
    STRUCT_SIZE(tflite::MicroAllocator),
    STRUCT_SIZE(tflite::MicroInterpreter),
};
#undef STRUCT_SIZE
const size_t kStructSizeCount = sizeof kStructSizes / sizeof kStructSizes[0];

bool SchemaIsSupported(const uint8_t* model) { return tflite::GetModel(model)->version() == TFLITE_SCHEMA_VERSION; }

bool Create(const uint8_t* data, uint8_t* arena, uint32_t arena_bytes) {
  // CreateInPlaceSimpleMemoryAllocator writes through a null pointer when the arena cannot hold the allocator itself.
  if (arena_bytes < sizeof(tflite::SimpleMemoryAllocator) + alignof(tflite::SimpleMemoryAllocator)) {
    Log("The arena cannot hold TFLM's own allocator");
    return false;
  }
  const tflite::Model* model = tflite::GetModel(data);
  if (CountCircularBuffers(*model) > kMaxCircularBuffers) {
    Log("The model has more than the 7 CIRCULAR_BUFFER operators that TFLM has room for");
    return false;
  }
  reporter = new (reporter_storage.bytes) Reporter;
  const Resolver* resolver = new (resolver_storage.bytes) Resolver;
  interpreter =
      new (interpreter_storage.bytes) tflite::MicroInterpreter(model, *resolver, arena, arena_bytes, reporter);
  ContextOf(*interpreter).ReportError = ReportOpError;
  return interpreter->initialization_status() == kTfLiteOk;
}

bool Allocate() { return interpreter->AllocateTensors() == kTfLiteOk; }

bool Invoke() {
  const int status = interpreter->Invoke();
  return status == kTfLiteOk || status == kEndedEarly;
}

ArenaUsage Usage() {
  const auto used_bytes = static_cast<uint32_t>(interpreter->arena_used_bytes());
  return {used_bytes, reporter->usage().head_bytes, reporter->usage().tail_bytes};
}

uint32_t InputCount() { return static_cast<uint32_t>(interpreter->inputs_size()); }
uint32_t OutputCount() { return static_cast<uint32_t>(interpreter->outputs_size()); }
Tensor Input(uint32_t index) { return Describe(*interpreter->input(index)); }
Tensor Output(uint32_t index) { return Describe(*interpreter->output(index)); }

}  // namespace tflm
