// TFLM of 2020-07 (TensorFlow 33689c48).
#include <cstdarg>
#include <cstddef>
#include <cstring>
#include <new>

#include "tensorflow/lite/c/common.h"
#include "tensorflow/lite/core/api/error_reporter.h"
#include "tensorflow/lite/micro/kernels/micro_ops.h"
#include "tensorflow/lite/micro/micro_allocator.h"
#include "tensorflow/lite/micro/micro_interpreter.h"
#include "tensorflow/lite/micro/micro_mutable_op_resolver.h"
#include "tensorflow/lite/micro/micro_string.h"
#include "tensorflow/lite/micro/simple_memory_allocator.h"
#include "tensorflow/lite/schema/schema_generated.h"
#include "tensorflow/lite/version.h"
#include "tflm/storage.h"
#include "tflm/tensor.h"
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

// An explicit instantiation may name private members ([temp.spec]); a friend function hands them out.
template <typename Private, typename Private::Member member>
struct Expose {
  friend typename Private::Member Find(Private) { return member; }
};

// ContextHelper::ReportOpError hands its va_list on as if it were the arguments themselves, so that messages of kernels
// come out as noise, or fault.
struct Context {
  using Member = TfLiteContext tflite::MicroInterpreter::*;
  friend Member Find(Context);
};
template struct Expose<Context, &tflite::MicroInterpreter::context_>;

struct Nodes {
  using Member = tflite::NodeAndRegistration* tflite::MicroInterpreter::*;
  friend Member Find(Nodes);
};
template struct Expose<Nodes, &tflite::MicroInterpreter::node_and_registrations_>;

constexpr size_t kMaxKernels = 128;
using MutableResolver = tflite::MicroMutableOpResolver<kMaxKernels>;
struct Registrations {
  using Member = TfLiteRegistration (MutableResolver::*)[kMaxKernels];
  friend Member Find(Registrations);
};
template struct Expose<Registrations, &MutableResolver::registrations_>;

TfLiteStatus PrepareWatched(TfLiteContext* context, TfLiteNode* node);
TfLiteStatus InvokeWatched(TfLiteContext* context, TfLiteNode* node);

using KernelFunction = TfLiteStatus (*)(TfLiteContext*, TfLiteNode*);
struct Kernel {
  KernelFunction prepare;
  KernelFunction invoke;
};

// TFLM does not tell which operator it runs, so that each kernel is called by way of a function that does.
class Resolver : public MutableResolver {
 public:
  Resolver() {
#define HARNESS_OPERATOR(call) call;
#include "operators.inc"
#undef HARNESS_OPERATOR
    for (size_t i = 0; i < GetRegistrationLength(); ++i) {
      TfLiteRegistration& registration = registrations()[i];
      kernels_[i] = {registration.prepare, registration.invoke};
      registration.prepare = registration.prepare == nullptr ? nullptr : PrepareWatched;
      registration.invoke = registration.invoke == nullptr ? nullptr : InvokeWatched;
    }
  }

  const Kernel& KernelOf(const TfLiteRegistration* registration) { return kernels_[registration - registrations()]; }

 private:
  TfLiteRegistration* registrations() { return this->*Find(Registrations{}); }

  Kernel kernels_[kMaxKernels];

  TF_LITE_REMOVE_VIRTUAL_DELETE
};

Storage<Reporter> reporter_storage;
Storage<Resolver> resolver_storage;
Storage<tflite::MicroInterpreter> interpreter_storage;
Reporter* reporter = nullptr;
Resolver* resolver = nullptr;
tflite::MicroInterpreter* interpreter = nullptr;

// No pointers into the arena: it may be what is broken when somebody asks.
struct RunningKernel {
  int32_t index;
  const TfLiteRegistration* registration;
  KernelFunction function;
};
constexpr RunningKernel kNone{-1, nullptr, nullptr};
RunningKernel running = kNone;

TfLiteStatus RunWatched(KernelFunction Kernel::* stage, TfLiteContext* context, TfLiteNode* node) {
  static_assert(offsetof(tflite::NodeAndRegistration, node) == 0, "a node's address is that of its entry");
  const auto* entry = reinterpret_cast<const tflite::NodeAndRegistration*>(node);
  const KernelFunction function = resolver->KernelOf(entry->registration).*stage;
  running = {static_cast<int32_t>(entry - interpreter->*Find(Nodes{})), entry->registration, function};
  OperatorStarts();
  const TfLiteStatus status = function(context, node);
  OperatorEnds();
  running = kNone;
  return status;
}

TfLiteStatus PrepareWatched(TfLiteContext* context, TfLiteNode* node) {
  return RunWatched(&Kernel::prepare, context, node);
}

TfLiteStatus InvokeWatched(TfLiteContext* context, TfLiteNode* node) {
  return RunWatched(&Kernel::invoke, context, node);
}

const char* NameOf(const TfLiteRegistration& registration) {
  return registration.builtin_code == tflite::BuiltinOperator_CUSTOM
             ? registration.custom_name
             : tflite::EnumNameBuiltinOperator(static_cast<tflite::BuiltinOperator>(registration.builtin_code));
}

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

}  // namespace

const StructSize kStructSizes[] = {
    {"TfLiteType", sizeof(TfLiteType)},
    {"TfLiteTensor", sizeof(TfLiteTensor)},
    {"TfLiteNode", sizeof(TfLiteNode)},
    {"TfLiteAffineQuantization", sizeof(TfLiteAffineQuantization)},
    {"NodeAndRegistration", sizeof(tflite::NodeAndRegistration)},
    {"SimpleMemoryAllocator", sizeof(tflite::SimpleMemoryAllocator)},
    {"ScratchBufferHandle", sizeof(tflite::internal::ScratchBufferHandle)},
    {"MicroAllocator", sizeof(tflite::MicroAllocator)},
    {"MicroInterpreter", sizeof(tflite::MicroInterpreter)},
};
const size_t kStructSizeCount = sizeof kStructSizes / sizeof kStructSizes[0];
const bool kRecords = false;
const bool kHasVariables = false;
const uint32_t kShareMax = 1;

bool SchemaIsSupported(const uint8_t* model) { return tflite::GetModel(model)->version() == TFLITE_SCHEMA_VERSION; }

bool Create(const Model& first, uint8_t* arena, uint32_t arena_bytes, bool) {
  // CreateInPlaceSimpleMemoryAllocator writes through a null pointer when the arena cannot hold the allocator itself.
  if (arena_bytes < sizeof(tflite::SimpleMemoryAllocator) + alignof(tflite::SimpleMemoryAllocator)) {
    Log("The arena cannot hold TFLM's own allocator");
    return false;
  }
  const tflite::Model* model = tflite::GetModel(first.data);
  if (CountCircularBuffers(*model) > kMaxCircularBuffers) {
    Log("The model has more than the 7 CIRCULAR_BUFFER operators that TFLM has room for");
    return false;
  }
  reporter = new (reporter_storage.bytes) Reporter;
  resolver = new (resolver_storage.bytes) Resolver;
  interpreter =
      new (interpreter_storage.bytes) tflite::MicroInterpreter(model, *resolver, arena, arena_bytes, reporter);
  (interpreter->*Find(Context{})).ReportError = ReportOpError;
  return interpreter->initialization_status() == kTfLiteOk;
}

bool Share(const Model&) { return false; }

bool Allocate(uint32_t) { return interpreter->AllocateTensors() == kTfLiteOk; }

bool Invoke(uint32_t) {
  const int status = interpreter->Invoke();
  return status == kTfLiteOk || status == kEndedEarly;
}

ArenaUsage Usage() {
  const auto used_bytes = static_cast<uint32_t>(interpreter->arena_used_bytes());
  return {used_bytes, reporter->usage().head_bytes, reporter->usage().tail_bytes};
}

size_t SectionCount() { return 0; }
Section RecordedSection(size_t) { return {"", 0, 0, 0}; }

Running RunningOperator() {
  if (running.registration == nullptr) {
    return {-1, "", 0};
  }
  const auto function = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(running.function));
  return {running.index, NameOf(*running.registration), function};
}

uint32_t InputCount(uint32_t) { return static_cast<uint32_t>(interpreter->inputs_size()); }
uint32_t OutputCount(uint32_t) { return static_cast<uint32_t>(interpreter->outputs_size()); }
Tensor Input(uint32_t, uint32_t index) { return Describe(*interpreter->input(index)); }
Tensor Output(uint32_t, uint32_t index) { return Describe(*interpreter->output(index)); }

}  // namespace tflm
