// From reset to RunFirmware().
#include <cstddef>
#include <cstring>

#include "app/platform.h"
#include "ports/common/static_data.h"
#include "ports/cortex_m/architecture.h"
#include "ports/cortex_m/chip.h"
#include "ports/cortex_m/linker_symbols.h"
#include "ports/cortex_m/vector_table.h"

// Runs on the process stack, at the very bottom of its RAM; the handlers keep the main stack for themselves.
extern "C" [[noreturn]] void StartOnProcessStack() {
  chip::StartBoard();
  harness::RunFirmware();
}

extern "C" void ResetHandler() {
  cortex_m::EnableFloatingPoint();
  memcpy(_data_start, _data_load, static_cast<size_t>(_data_end - _data_start));
  ports::InitialiseStaticData();
  cortex_m::EnableFaults();
  // DDI 0403 section B1.4.4: CONTROL.SPSEL chooses the process stack.
  asm volatile(
      "msr psp, %0\n"
      "movs r0, #2\n"
      "msr control, r0\n"
      "isb\n"
      "b StartOnProcessStack\n"
      :
      : "r"(_stack_end)
      : "r0", "memory");
  __builtin_unreachable();
}
