// The last words of a firmware that cannot go on.
#pragma once

#include <cstdint>

#include "app/json_writer.h"
#include "tflm/tflm.h"

namespace harness {

// Addresses and registers as the core saved them; 0 where a port or a kind of fault has none.
struct Fault {
  const char* kind;
  uint32_t pc = 0;
  uint32_t lr = 0;
  uint32_t sp = 0;
  uint32_t psr = 0;
  uint32_t cfsr = 0;
  uint32_t hfsr = 0;
  uint32_t mmfar = 0;
  uint32_t bfar = 0;
  const char* text = "";
};

// Tells which operator it was, if it was one.
void WriteOperator(JsonWriter& json, const tflm::Running& running);

// Sends the fault frame. Works inside a fault handler, whatever was being sent before.
void SendFault(const Fault& fault);

}  // namespace harness
