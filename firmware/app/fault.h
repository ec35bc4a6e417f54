// The last words of a firmware that cannot go on.
#pragma once

#include <cstddef>
#include <cstdint>

#include "app/json_writer.h"
#include "tflm/tflm.h"

namespace harness {

// A register that only some cores have. Its name is that of the core's manual, in lower case; the host's plug-in of the
// family (harness/families) knows it by that.
struct FaultRegister {
  const char* name;
  uint32_t value;
};

// As the core saved it; 0 where a kind of fault has none.
struct Fault {
  const char* kind;
  uint32_t pc = 0;
  uint32_t lr = 0;  // where the code would have returned to
  uint32_t sp = 0;
  const FaultRegister* registers = nullptr;
  size_t register_count = 0;
  const char* text = "";
};

// Tells which operator it was, if it was one.
void WriteOperator(JsonWriter& json, const tflm::Running& running);

// Sends the fault frame. Works inside a fault handler, whatever was being sent before.
void SendFault(const Fault& fault);

}  // namespace harness
