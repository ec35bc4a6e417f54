// Exceptions of the core become fault frames.
#include <cstdint>
#include <iterator>

#include "app/fault.h"
#include "app/platform.h"
#include "ports/common/linker_symbols.h"

namespace esp32 {

// What start.S keeps of the interrupted code, in its order.
struct SavedRegisters {
  uint32_t vector, pc, a0, a1, ps, exccause, excvaddr;
};

namespace {

// Offsets of vectors from VECBASE.
constexpr uint32_t kNmiVector = 0x2C0;
constexpr uint32_t kKernelVector = 0x300;
constexpr uint32_t kDoubleVector = 0x3C0;

struct Cause {
  uint32_t number;
  const char* kind;
  const char* name;
};

// Xtensa Instruction Set Architecture reference manual, exception causes; EXCCAUSE_* in ESP-IDF's xtensa/corebits.h.
constexpr Cause kCauses[] = {
    {0, "usage_fault", "IllegalInstruction"},    {1, "usage_fault", "Syscall"},
    {2, "bus_fault", "InstructionFetchError"},   {3, "bus_fault", "LoadStoreError"},
    {6, "usage_fault", "IntegerDivideByZero"},   {8, "usage_fault", "Privileged"},
    {9, "usage_fault", "LoadStoreAlignment"},    {12, "bus_fault", "InstrPIFDataError"},
    {13, "bus_fault", "LoadStorePIFDataError"},  {14, "bus_fault", "InstrPIFAddrError"},
    {15, "bus_fault", "LoadStorePIFAddrError"},  {20, "mem_manage", "InstFetchProhibited"},
    {28, "mem_manage", "LoadProhibited"},        {29, "mem_manage", "StoreProhibited"},
    {32, "usage_fault", "Coprocessor0Disabled"},
};
constexpr Cause kUnknownCause{0, "hard_fault", "unknown cause"};

const Cause& CauseOf(const SavedRegisters& saved) {
  for (const Cause& cause : kCauses) {
    if (cause.number == saved.exccause) {
      return cause;
    }
  }
  return kUnknownCause;
}

constexpr uint32_t kStoreProhibited = 29;
constexpr uint32_t kMappedFlash = 0x3F400000;
constexpr uint32_t kMappedFlashEnd = 0x3F800000;

const char* TextOf(const SavedRegisters& saved) {
  const bool in_flash = saved.excvaddr >= kMappedFlash && saved.excvaddr < kMappedFlashEnd;
  if (saved.exccause == kStoreProhibited && in_flash) {
    return "StoreProhibited, a store into flash";
  }
  return CauseOf(saved).name;
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

[[noreturn, gnu::used]] void ReportFault() {
  const esp32::SavedRegisters& saved = esp32_saved_registers;
  harness::Fault fault{esp32::KindOf(saved)};
  fault.pc = saved.pc;
  fault.lr = saved.a0;
  fault.sp = saved.a1;
  fault.text = esp32::TextOf(saved);
  const harness::FaultRegister registers[] = {
      {"ps", saved.ps}, {"vector", saved.vector}, {"exccause", saved.exccause}, {"excvaddr", saved.excvaddr}};
  fault.registers = registers;
  fault.register_count = std::size(registers);
  harness::SendFault(fault);
  platform::Halt();
}
}
