#include "app/fault.h"

#include "app/json_writer.h"
#include "app/platform.h"
#include "app/stage.h"

namespace harness {
namespace {

[[noreturn]] void Abort(const char* text, const void* caller) {
  Fault fault{"abort"};
  fault.pc = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(caller));
  fault.text = text;
  SendFault(fault);
  platform::Halt();
}

}  // namespace

void WriteOperator(JsonWriter& json, const tflm::Running& running) {
  if (running.index < 0) {
    return;
  }
  json.Member("operator", static_cast<uint32_t>(running.index));
  json.Member("operator_name", running.name);
  json.Member("operator_function", running.function);
}

void SendFault(const Fault& fault) {
  BreakLine();
  Frame frame("fault");
  frame->Member("kind", fault.kind);
  frame->Member("stage", StageName());
  frame->Member("pc", fault.pc);
  frame->Member("lr", fault.lr);
  frame->Member("sp", fault.sp);
  for (size_t i = 0; i < fault.register_count; ++i) {
    frame->Member(fault.registers[i].name, fault.registers[i].value);
  }
  frame->Member("text", fault.text);
  WriteOperator(frame.json(), tflm::RunningOperator());
}

}  // namespace harness

// What the C and C++ libraries and TFLM call when they give up.
extern "C" {

[[noreturn]] void abort() { harness::Abort("abort() was called", __builtin_return_address(0)); }

[[noreturn]] void __assert_func(const char*, int, const char*, const char* expression) {
  harness::Abort(expression, __builtin_return_address(0));
}

[[noreturn]] void __cxa_pure_virtual() {
  harness::Abort("a pure virtual function was called", __builtin_return_address(0));
}
}
