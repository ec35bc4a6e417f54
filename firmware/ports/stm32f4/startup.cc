// From reset to RunFirmware().
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "app/platform.h"
#include "ports/stm32f4/board.h"
#include "ports/stm32f4/faults.h"
#include "ports/stm32f4/linker_symbols.h"
#include "ports/stm32f4/registers.h"

extern "C" [[noreturn]] void ResetHandler();

namespace stm32f4 {
namespace {

using Handler = void (*)();

// DDI 0403 section B1.5.3, and RM0090 table 61: 16 exceptions of the core and 82 interrupts. None but SysTick's is ever
// enabled, so that one that comes is reported like any other fault.
constexpr size_t kSysTickHandler = 14;  // exception 15; the table of handlers begins with exception 1

struct VectorTable {
  const uint8_t* initial_stack;
  Handler handlers[15 + 82];
};

constexpr VectorTable MakeVectorTable() {
  VectorTable table{};
  table.initial_stack = _handler_stack_end;
  for (Handler& handler : table.handlers) {
    handler = FaultEntry;
  }
  table.handlers[0] = ResetHandler;
  table.handlers[kSysTickHandler] = SysTickEntry;
  return table;
}

[[gnu::section(".vectors"), gnu::used]] constexpr VectorTable kVectorTable = MakeVectorTable();

void InitialiseStaticData() {
  memcpy(_data_start, _data_load, static_cast<size_t>(_data_end - _data_start));
  memset(_bss_start, 0, static_cast<size_t>(_bss_end - _bss_start));
  for (const Handler* initialiser = _init_array_start; initialiser < _init_array_end; ++initialiser) {
    (*initialiser)();
  }
}

}  // namespace
}  // namespace stm32f4

// Runs on the process stack, at the very bottom of its RAM; the handlers keep the main stack for themselves.
extern "C" [[noreturn]] void StartOnProcessStack() {
  stm32f4::StartBoard();
  harness::RunFirmware();
}

extern "C" void ResetHandler() {
  // DDI 0403 section B3.2.20: full access to the FPU (CP10, CP11), before any code that may use it.
  stm32f4::scb_cpacr |= 0xFu << 20;
  asm volatile("dsb\n isb" ::: "memory");
  stm32f4::InitialiseStaticData();
  stm32f4::EnableFaults();
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
