#include "tensorflow/lite/micro/micro_allocator.h"

#include <new>

#include "tensorflow/lite/micro/memory_planner/greedy_memory_planner.h"
#include "tensorflow/lite/micro/micro_log.h"

namespace tflite {
namespace {

constexpr size_t kAlignment = 16;
constexpr size_t kBuiltinDataAllocatorBytes = 8;
// While an operator prepares there is room for so many scratch requests.
constexpr size_t kMaxRequestsPerOperator = 12;
constexpr size_t kAllocationInfoBytes = 24;

const TfLiteIntArray kNoShape = {0, {}};

size_t AlignUp(size_t size, size_t alignment) { return (size + alignment - 1) / alignment * alignment; }

TfLiteIntArray* AsArray(const uint8_t* vector) {
  return const_cast<TfLiteIntArray*>(vector == nullptr ? &kNoShape : reinterpret_cast<const TfLiteIntArray*>(vector));
}

// As the schema numbers them.
TfLiteType TypeOf(const Tensor* tensor) {
  constexpr TfLiteType kTypes[] = {kTfLiteFloat32, kTfLiteFloat16, kTfLiteInt32, kTfLiteUInt8,  kTfLiteInt64,
                                   kTfLiteNoType,  kTfLiteBool,    kTfLiteInt16, kTfLiteNoType, kTfLiteInt8};
  return tensor->type() < 10 ? kTypes[tensor->type()] : kTfLiteNoType;
}

size_t BytesOf(const Tensor* tensor) {
  constexpr size_t kSizes[] = {4, 2, 4, 1, 8, 0, 1, 2, 0, 1};
  size_t bytes = tensor->type() < 10 ? kSizes[tensor->type()] : 0;
  const TfLiteIntArray* shape = AsArray(tensor->shape());
  for (int i = 0; i < shape->size; ++i) {
    bytes *= static_cast<size_t>(shape->data[i]);
  }
  return bytes;
}

bool Contains(const uint8_t* vector, int value) {
  const TfLiteIntArray* values = AsArray(vector);
  for (int i = 0; i < values->size; ++i) {
    if (values->data[i] == value) {
      return true;
    }
  }
  return false;
}

struct Lifetime {
  int first = -1;
  int last = -1;
};

Lifetime LifetimeOf(const SubGraph* graph, int tensor) {
  Lifetime lifetime;
  const auto use = [&lifetime](int time, bool written, bool read) {
    lifetime.first = written && lifetime.first < 0 ? time : lifetime.first;
    lifetime.last = written || read ? time : lifetime.last;
  };
  use(0, Contains(graph->inputs(), tensor), false);
  const int count = static_cast<int>(graph->operators_length());
  for (int i = 0; i < count; ++i) {
    const Operator* op = graph->op(static_cast<uint32_t>(i));
    use(i + 1, Contains(op->outputs(), tensor), Contains(op->inputs(), tensor));
  }
  use(count, Contains(graph->outputs(), tensor), false);
  return lifetime;
}

bool IsPlanned(const Tensor* tensor, const TfLiteEvalTensor& place) {
  return place.data.data == nullptr && !tensor->is_variable() && BytesOf(tensor) > 0;
}

}  // namespace

MicroAllocator::MicroAllocator(SingleArenaBufferAllocator* memory_allocator, MicroMemoryPlanner* memory_planner)
    : memory_(memory_allocator), planner_(memory_planner), unused_{} {}

MicroAllocator::~MicroAllocator() {}

MicroAllocator* MicroAllocator::Create(uint8_t* tensor_arena, size_t arena_size) {
  SingleArenaBufferAllocator* memory = SingleArenaBufferAllocator::Create(tensor_arena, arena_size);
  uint8_t* planner = memory->AllocatePersistentBuffer(sizeof(GreedyMemoryPlanner), alignof(GreedyMemoryPlanner));
  return Create(memory, new (planner) GreedyMemoryPlanner());
}

MicroAllocator* MicroAllocator::Create(SingleArenaBufferAllocator* memory_allocator,
                                       MicroMemoryPlanner* memory_planner) {
  uint8_t* place = memory_allocator->AllocatePersistentBuffer(sizeof(MicroAllocator), alignof(MicroAllocator));
  return new (place) MicroAllocator(memory_allocator, memory_planner);
}

void* MicroAllocator::AllocatePersistentBuffer(size_t bytes) {
  return memory_->AllocatePersistentBuffer(bytes, kAlignment);
}

void* MicroAllocator::AllocateBuiltinData(size_t bytes, size_t alignment) {
  return memory_->AllocatePersistentBuffer(bytes, alignment);
}

size_t MicroAllocator::used_bytes() const { return memory_->GetUsedBytes(); }

size_t MicroAllocator::RequestsBytes() const {
  return (kMaxRequestsPerOperator + request_count_) * sizeof(ScratchRequest);
}

SubgraphAllocations* MicroAllocator::StartModelAllocation(const Model* model) {
  request_count_ = 0;
  if (memory_->AllocatePersistentBuffer(kBuiltinDataAllocatorBytes, alignof(void*)) == nullptr ||
      memory_->ResizeBuffer(memory_->start(), RequestsBytes(), alignof(void*)) != kTfLiteOk) {
    return nullptr;
  }
  auto* allocations = reinterpret_cast<SubgraphAllocations*>(
      memory_->AllocatePersistentBuffer(sizeof(SubgraphAllocations), alignof(SubgraphAllocations)));
  if (allocations == nullptr) {
    return nullptr;
  }
  allocations->tensors = AllocateEvalTensors(model);
  allocations->node_and_registrations = allocations->tensors == nullptr ? nullptr : AllocateNodeAndRegistrations(model);
  return allocations->node_and_registrations == nullptr ? nullptr : allocations;
}

TfLiteStatus MicroAllocator::FinishModelAllocation(const Model* model, SubgraphAllocations* allocations) {
  if (AllocateHandles() != kTfLiteOk || AllocateVariables(model, allocations->tensors) != kTfLiteOk) {
    return kTfLiteError;
  }
  return Plan(model, allocations->tensors);
}

TfLiteStatus MicroAllocator::AllocateHandles() {
  const size_t bytes = request_count_ * sizeof(ScratchBufferHandle);
  handles_ = bytes == 0 ? nullptr
                        : reinterpret_cast<ScratchBufferHandle*>(
                              memory_->AllocatePersistentBuffer(bytes, alignof(ScratchBufferHandle)));
  return bytes > 0 && handles_ == nullptr ? kTfLiteError : kTfLiteOk;
}

TfLiteTensor* MicroAllocator::AllocatePersistentTfLiteTensor(const Model* model, const SubgraphAllocations* allocations,
                                                             int index) {
  TfLiteTensor* tensor = AllocateTensorStruct();
  const Tensor* source = model->subgraph()->tensor(static_cast<uint32_t>(index));
  if (tensor == nullptr || PopulateTensor(source, tensor, false) != kTfLiteOk) {
    return nullptr;
  }
  tensor->data = allocations->tensors[index].data;
  tensor->dims = allocations->tensors[index].dims;
  return tensor;
}

TfLiteTensor* MicroAllocator::AllocateTempTensor(const Model* model, int index) {
  auto* tensor = static_cast<TfLiteTensor*>(Allocate(sizeof(TfLiteTensor), alignof(TfLiteTensor), true));
  const Tensor* source = model->subgraph()->tensor(static_cast<uint32_t>(index));
  return tensor == nullptr || MicroAllocator::PopulateTensor(source, tensor, true) != kTfLiteOk ? nullptr : tensor;
}

uint32_t MicroAllocator::ScaleCount(const Model* model, int index) const {
  const QuantizationParameters* quantization = model->subgraph()->tensor(static_cast<uint32_t>(index))->quantization();
  return quantization == nullptr || quantization->zero_point_length() == 0 ? 0 : quantization->scale_length();
}

TfLiteStatus MicroAllocator::RequestScratchBuffer(size_t bytes) {
  requests()[request_count_++] = {bytes, -1, 0};
  return kTfLiteOk;
}

void MicroAllocator::FinishPrepare(int node) {
  memory_->ResetTempAllocations();
  for (size_t i = 0; i < request_count_; ++i) {
    requests()[i].node = requests()[i].node < 0 ? node : requests()[i].node;
  }
  memory_->ResizeBuffer(memory_->start(), RequestsBytes(), alignof(void*));
}

void* MicroAllocator::Allocate(size_t bytes, size_t alignment, bool is_temp) {
  return is_temp ? memory_->AllocateTemp(bytes, alignment) : memory_->AllocatePersistentBuffer(bytes, alignment);
}

TfLiteEvalTensor* MicroAllocator::AllocateEvalTensors(const Model* model) {
  const SubGraph* graph = model->subgraph();
  auto* tensors = reinterpret_cast<TfLiteEvalTensor*>(
      memory_->AllocatePersistentBuffer(graph->tensors_length() * sizeof(TfLiteEvalTensor), alignof(TfLiteEvalTensor)));
  for (uint32_t i = 0; tensors != nullptr && i < graph->tensors_length(); ++i) {
    const Buffer* buffer = model->buffer(graph->tensor(i)->buffer());
    tensors[i].data.data = buffer->length() > 0 ? const_cast<uint8_t*>(buffer->data()) : nullptr;
    tensors[i].dims = AsArray(graph->tensor(i)->shape());
    tensors[i].type = TypeOf(graph->tensor(i));
  }
  return tensors;
}

NodeAndRegistration* MicroAllocator::AllocateNodeAndRegistrations(const Model* model) {
  const SubGraph* graph = model->subgraph();
  auto* nodes = reinterpret_cast<NodeAndRegistration*>(memory_->AllocatePersistentBuffer(
      graph->operators_length() * sizeof(NodeAndRegistration), alignof(NodeAndRegistration)));
  for (uint32_t i = 0; nodes != nullptr && i < graph->operators_length(); ++i) {
    nodes[i] = {};
    nodes[i].node.inputs = AsArray(graph->op(i)->inputs());
    nodes[i].node.outputs = AsArray(graph->op(i)->outputs());
    nodes[i].node.custom_initial_data = graph->op(i);
  }
  return nodes;
}

TfLiteStatus MicroAllocator::AllocateVariables(const Model* model, TfLiteEvalTensor* tensors) {
  const SubGraph* graph = model->subgraph();
  for (uint32_t i = 0; i < graph->tensors_length(); ++i) {
    if (graph->tensor(i)->is_variable()) {
      tensors[i].data.data = memory_->AllocatePersistentBuffer(BytesOf(graph->tensor(i)), kAlignment);
      if (tensors[i].data.data == nullptr) {
        return kTfLiteError;
      }
    }
  }
  return kTfLiteOk;
}

TfLiteTensor* MicroAllocator::AllocateTensorStruct() {
  return reinterpret_cast<TfLiteTensor*>(
      memory_->AllocatePersistentBuffer(sizeof(TfLiteTensor), alignof(TfLiteTensor)));
}

TfLiteStatus MicroAllocator::PopulateTensor(const Tensor* source, TfLiteTensor* tensor, bool is_temp) {
  *tensor = {};
  tensor->type = TypeOf(source);
  tensor->bytes = BytesOf(source);
  const QuantizationParameters* quantization = source->quantization();
  if (quantization == nullptr || quantization->scale_length() == 0 || quantization->zero_point_length() == 0) {
    return kTfLiteOk;
  }
  const uint32_t count = quantization->scale_length();
  auto* affine = static_cast<TfLiteAffineQuantization*>(
      Allocate(sizeof(TfLiteAffineQuantization), alignof(TfLiteAffineQuantization), is_temp));
  auto* zero_points = static_cast<TfLiteIntArray*>(
      Allocate(sizeof(TfLiteIntArray) + count * sizeof(int), alignof(TfLiteIntArray), is_temp));
  if (affine == nullptr || zero_points == nullptr) {
    return kTfLiteError;
  }
  zero_points->size = static_cast<int>(count);
  for (uint32_t i = 0; i < count; ++i) {
    zero_points->data[i] = quantization->zero_point(i);
  }
  auto* scales = const_cast<uint8_t*>(quantization->scale());
  *affine = {reinterpret_cast<TfLiteFloatArray*>(scales), zero_points, 0};
  tensor->quantization = {kTfLiteAffineQuantization, affine};
  return kTfLiteOk;
}

TfLiteStatus MicroAllocator::Plan(const Model* model, TfLiteEvalTensor* tensors) {
  // Before the planner's own memory lie the scratch requests, a subgraph's offset and what is known of each buffer.
  const size_t before =
      RequestsBytes() + 4 + kAllocationInfoBytes * (model->subgraph()->tensors_length() + request_count_);
  uint8_t* scratch = memory_->start() + AlignUp(before, kAlignment);
  uint8_t* end = memory_->tail() - reinterpret_cast<uintptr_t>(memory_->tail()) % kAlignment;
  planner_->Init(scratch, end < scratch ? 0 : static_cast<int>(end - scratch));
  if (AddBuffers(model, tensors) != kTfLiteOk) {
    return kTfLiteError;
  }
  const size_t planned = planner_->GetMaximumMemorySize();
  max_head_bytes_ = planned > max_head_bytes_ ? planned : max_head_bytes_;
  PlaceBuffers(model, tensors);
  return memory_->ResizeBuffer(memory_->start(), max_head_bytes_, kAlignment);
}

TfLiteStatus MicroAllocator::AddBuffers(const Model* model, const TfLiteEvalTensor* tensors) {
  const SubGraph* graph = model->subgraph();
  for (uint32_t i = 0; i < graph->tensors_length(); ++i) {
    const Tensor* tensor = graph->tensor(i);
    const Lifetime lifetime = LifetimeOf(graph, static_cast<int>(i));
    const int size = static_cast<int>(AlignUp(BytesOf(tensor), kAlignment));
    if (IsPlanned(tensor, tensors[i]) && planner_->AddBuffer(size, lifetime.first, lifetime.last) != kTfLiteOk) {
      return kTfLiteError;
    }
  }
  for (size_t i = 0; i < request_count_; ++i) {
    const int size = static_cast<int>(AlignUp(requests()[i].bytes, kAlignment));
    const int time = requests()[i].node + 1;
    if (planner_->AddBuffer(size, time, time) != kTfLiteOk) {
      return kTfLiteError;
    }
  }
  return kTfLiteOk;
}

void MicroAllocator::PlaceBuffers(const Model* model, TfLiteEvalTensor* tensors) {
  const SubGraph* graph = model->subgraph();
  int number = 0;
  int offset = 0;
  for (uint32_t i = 0; i < graph->tensors_length(); ++i) {
    if (IsPlanned(graph->tensor(i), tensors[i])) {
      planner_->GetOffsetForBuffer(number++, &offset);
      tensors[i].data.uint8 = memory_->start() + offset;
    }
  }
  for (size_t i = 0; i < request_count_; ++i) {
    planner_->GetOffsetForBuffer(number++, &offset);
    handles_[i].data = memory_->start() + offset;
  }
}

}  // namespace tflite
