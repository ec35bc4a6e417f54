// The vector table: how many interrupts there are is all that a chip adds to it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ports/cortex_m/architecture.h"
#include "ports/cortex_m/linker_symbols.h"

extern "C" [[noreturn]] void ResetHandler();

namespace cortex_m {

using Handler = void (*)();

// DDI 0403 section B1.5.3: the stack, then 15 exceptions of the core, from exception 1 on, then the chip's interrupts.
constexpr size_t kExceptions = 15;
constexpr size_t kSysTick = 15;

template <size_t kInterrupts>
struct VectorTable {
  const uint8_t* initial_stack;
  Handler handlers[kExceptions + kInterrupts];
};

// For a constant in the section .vectors. No interrupt but SysTick's is ever enabled, so that one that comes is
// reported like any other fault.
template <size_t kInterrupts>
constexpr VectorTable<kInterrupts> MakeVectorTable() {
  VectorTable<kInterrupts> table{};
  table.initial_stack = _handler_stack_end;
  for (Handler& handler : table.handlers) {
    handler = FaultEntry;
  }
  table.handlers[0] = ResetHandler;
  table.handlers[kSysTick - 1] = SysTickEntry;
  return table;
}

}  // namespace cortex_m
