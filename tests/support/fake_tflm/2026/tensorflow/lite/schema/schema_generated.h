// Reads TFLite files: tables lie where they lie, and are followed by hand. Field numbers are those of schema.fbs. Only
// the first subgraph is looked at.
#pragma once

#include <cstdint>
#include <cstring>

namespace tflite {

enum BuiltinOperator : int32_t {
  BuiltinOperator_CONCATENATION = 2,
  BuiltinOperator_CONV_2D = 3,
  BuiltinOperator_FULLY_CONNECTED = 9,
  BuiltinOperator_RELU6 = 21,
  BuiltinOperator_CUSTOM = 32,
  BuiltinOperator_MEAN = 40,
  BuiltinOperator_STRIDED_SLICE = 45,
  BuiltinOperator_NEG = 59,
  BuiltinOperator_TRANSPOSE_CONV = 67,
  BuiltinOperator_REDUCE_MAX = 82,
  BuiltinOperator_GATHER_ND = 107,
  BuiltinOperator_SELECT_V2 = 123,
  BuiltinOperator_VAR_HANDLE = 142,
  BuiltinOperator_READ_VARIABLE = 143,
  BuiltinOperator_ASSIGN_VARIABLE = 144,
};

inline const char* EnumNameBuiltinOperator(BuiltinOperator op) {
  switch (op) {
    case BuiltinOperator_CONCATENATION:
      return "CONCATENATION";
    case BuiltinOperator_CONV_2D:
      return "CONV_2D";
    case BuiltinOperator_FULLY_CONNECTED:
      return "FULLY_CONNECTED";
    case BuiltinOperator_RELU6:
      return "RELU6";
    case BuiltinOperator_CUSTOM:
      return "CUSTOM";
    case BuiltinOperator_MEAN:
      return "MEAN";
    case BuiltinOperator_STRIDED_SLICE:
      return "STRIDED_SLICE";
    case BuiltinOperator_NEG:
      return "NEG";
    case BuiltinOperator_TRANSPOSE_CONV:
      return "TRANSPOSE_CONV";
    case BuiltinOperator_REDUCE_MAX:
      return "REDUCE_MAX";
    case BuiltinOperator_GATHER_ND:
      return "GATHER_ND";
    case BuiltinOperator_SELECT_V2:
      return "SELECT_V2";
    case BuiltinOperator_VAR_HANDLE:
      return "VAR_HANDLE";
    case BuiltinOperator_READ_VARIABLE:
      return "READ_VARIABLE";
    case BuiltinOperator_ASSIGN_VARIABLE:
      return "ASSIGN_VARIABLE";
  }
  return "";
}

template <typename T>
T ReadAt(const void* at) {
  T value;
  memcpy(&value, at, sizeof value);
  return value;
}

// A table has no members of its own: its address is where it lies in the file.
class Table {
 public:
  Table() = delete;

 protected:
  // Where a field lies; null when it has its default.
  const uint8_t* Field(unsigned number) const {
    const auto* here = reinterpret_cast<const uint8_t*>(this);
    const uint8_t* layout = here - ReadAt<int32_t>(here);
    const unsigned entry = 4 + 2 * number;
    const uint16_t offset = entry < ReadAt<uint16_t>(layout) ? ReadAt<uint16_t>(layout + entry) : 0;
    return offset == 0 ? nullptr : here + offset;
  }

  template <typename T>
  T Scalar(unsigned number) const {
    const uint8_t* field = Field(number);
    return field == nullptr ? T{} : ReadAt<T>(field);
  }

  // A vector, with its length before its elements, or another table.
  const uint8_t* Pointer(unsigned number) const {
    const uint8_t* field = Field(number);
    return field == nullptr ? nullptr : field + ReadAt<uint32_t>(field);
  }

  uint32_t Length(unsigned number) const {
    const uint8_t* vector = Pointer(number);
    return vector == nullptr ? 0 : ReadAt<uint32_t>(vector);
  }

  template <typename T>
  const T* Element(unsigned number, uint32_t index) const {
    const uint8_t* element = Pointer(number) + 4 + 4 * index;
    return reinterpret_cast<const T*>(element + ReadAt<uint32_t>(element));
  }
};

class QuantizationParameters : public Table {
 public:
  const uint8_t* scale() const { return Pointer(2); }
  uint32_t scale_length() const { return Length(2); }
  uint32_t zero_point_length() const { return Length(3); }
  int32_t zero_point(uint32_t index) const { return static_cast<int32_t>(ReadAt<int64_t>(Pointer(3) + 4 + 8 * index)); }
};

class Tensor : public Table {
 public:
  const uint8_t* shape() const { return Pointer(0); }
  int8_t type() const { return Scalar<int8_t>(1); }
  uint32_t buffer() const { return Scalar<uint32_t>(2); }
  const QuantizationParameters* quantization() const {
    return reinterpret_cast<const QuantizationParameters*>(Pointer(4));
  }
  bool is_variable() const { return Scalar<bool>(5); }
};

class VarHandleOptions : public Table {
 public:
  const char* shared_name() const { return reinterpret_cast<const char*>(Pointer(1) + 4); }
};

class Operator : public Table {
 public:
  uint32_t opcode_index() const { return Scalar<uint32_t>(0); }
  const uint8_t* inputs() const { return Pointer(1); }
  const uint8_t* outputs() const { return Pointer(2); }
  const VarHandleOptions* builtin_options() const { return reinterpret_cast<const VarHandleOptions*>(Pointer(4)); }
};

class SubGraph : public Table {
 public:
  uint32_t tensors_length() const { return Length(0); }
  const Tensor* tensor(uint32_t index) const { return Element<Tensor>(0, index); }
  const uint8_t* inputs() const { return Pointer(1); }
  uint32_t inputs_length() const { return Length(1); }
  const uint8_t* outputs() const { return Pointer(2); }
  uint32_t outputs_length() const { return Length(2); }
  uint32_t operators_length() const { return Length(3); }
  const Operator* op(uint32_t index) const { return Element<Operator>(3, index); }
};

class OperatorCode : public Table {
 public:
  BuiltinOperator builtin_code() const {
    const int32_t older = Scalar<int8_t>(0);
    const int32_t newer = Scalar<int32_t>(3);
    return static_cast<BuiltinOperator>(newer > older ? newer : older);
  }
};

class Buffer : public Table {
 public:
  uint32_t length() const { return Length(0); }
  const uint8_t* data() const { return Pointer(0) + 4; }
};

class Model : public Table {
 public:
  uint32_t version() const { return Scalar<uint32_t>(0); }
  const OperatorCode* operator_code(uint32_t index) const { return Element<OperatorCode>(1, index); }
  const SubGraph* subgraph() const { return Element<SubGraph>(2, 0); }
  const Buffer* buffer(uint32_t index) const { return Element<Buffer>(4, index); }
};

inline const Model* GetModel(const void* data) {
  return reinterpret_cast<const Model*>(static_cast<const uint8_t*>(data) + ReadAt<uint32_t>(data));
}

}  // namespace tflite
