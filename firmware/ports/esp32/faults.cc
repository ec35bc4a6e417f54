// Exceptions of the core become fault frames.
#include <cstdint>

#include "app/fault.h"
#include "app/platform.h"
#include "ports/common/linker_symbols.h"

namespace esp32 {

// What start.S keeps of the interrupted code, in its order.
struct SavedRegisters {
  uint32_t vector, pc, a0, a1, ps, exccause, excvaddr;
};

namespace {

// CFSR of a Cortex-M, the bit that says that BFAR holds the address of the bad access.
constexpr uint32_t kBusAddressValid = 1u << 15;

// Offsets of vectors from VECBASE.
constexpr uint32_t kNmiVector = 0x2C0;
constexpr uint32_t kKernelVector = 0x300;
constexpr uint32_t kDoubleVector = 0x3C0;

struct Cause {
  uint32_t number;
  const char* kind;
  const char* name;
  bool has_address;  // of a load or store, in EXCVADDR
};

// Xtensa Instruction Set Architecture reference manual, exception causes; EXCCAUSE_* in ESP-IDF's xtensa/corebits.h.
// clang-format off
constexpr Cause kCauses[] = {
    {0, "usage_fault", "IllegalInstruction", false},
    {1, "usage_fault", "Syscall", false},
    {2, "bus_fault", "InstructionFetchError", false},
    {3, "bus_fault", "LoadStoreError", true},
    {6, "usage_fault", "IntegerDivideByZero", false},
    {8, "usage_fault", "Privileged", false},
    {9, "usage_fault", "LoadStoreAlignment", true},
    {12, "bus_fault", "InstrPIFDataError", false},
    {13, "bus_fault", "LoadStorePIFDataError", true},
    {14, "bus_fault", "InstrPIFAddrError", false},
    {15, "bus_fault", "LoadStorePIFAddrError", true},
    {20, "mem_manage", "InstFetchProhibited", false},
    {28, "mem_manage", "LoadProhibited", true},
    {29, "mem_manage", "StoreProhibited", true},
    {32, "usage_fault", "Coprocessor0Disabled", false},
};
// clang-format on
constexpr Cause kUnknownCause{0, "hard_fault", "unknown cause", false};

const Cause& CauseOf(const SavedRegisters& saved) {
  for (const Cause& cause : kCauses) {
    if (cause.number == saved.exccause) {
      return cause;
    }
  }
  return kUnknownCause;
}

const char* KindOf(const SavedRegisters& saved) {
  if (saved.a1 < ports::NumberOf(_stack_start)) {
    return "stack_overflow";
  }
  if (saved.vector == kNmiVector) {
    return "nmi";
  }
  const bool is_exception = saved.vector >= kKernelVector && saved.vector != kDoubleVector;
  return is_exception ? CauseOf(saved).kind : "hard_fault";
}

}  // namespace
}  // namespace esp32

extern "C" {

esp32::SavedRegisters esp32_saved_registers;

// The frame's fields have the names of another core's registers; wire.py says what they hold on this one.
[[noreturn, gnu::used]] void ReportFault() {
  const esp32::SavedRegisters& saved = esp32_saved_registers;
  harness::Fault fault{esp32::KindOf(saved)};
  fault.pc = saved.pc;
  fault.lr = saved.a0;
  fault.sp = saved.a1;
  fault.psr = saved.ps;
  fault.cfsr = esp32::CauseOf(saved).has_address ? esp32::kBusAddressValid : 0;
  fault.hfsr = saved.vector << 16 | saved.exccause;
  fault.bfar = saved.excvaddr;
  fault.text = esp32::CauseOf(saved).name;
  harness::SendFault(fault);
  platform::Halt();
}
}
