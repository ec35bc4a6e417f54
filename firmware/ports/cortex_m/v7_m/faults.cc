// Faults of the core become fault frames.
#include <cstdint>
#include <iterator>

#include "app/fault.h"
#include "app/platform.h"
#include "ports/cortex_m/architecture.h"
#include "ports/cortex_m/hang_timer.h"
#include "ports/cortex_m/linker_symbols.h"
#include "ports/cortex_m/v7_m/registers.h"

namespace cortex_m {
namespace {

// DDI 0403 section B1.5.2: exception numbers.
enum Exception : uint32_t { kNmi = 2, kHardFault = 3, kMemManage = 4, kBusFault = 5, kUsageFault = 6, kSysTick = 15 };

// DDI 0403 section B3.2.13, SHCSR: MemManage, BusFault, UsageFault.
constexpr uint32_t kAllFaults = Bit(16) | Bit(17) | Bit(18);
// DDI 0403 section B3.2.15, CFSR.
constexpr uint32_t kMemManageStacking = Bit(4) | Bit(5);  // of the core's registers, of the FPU's
constexpr uint32_t kMemManageAddressValid = Bit(7);
constexpr uint32_t kBusStacking = Bit(12) | Bit(13);
constexpr uint32_t kBusAddressValid = Bit(15);

// DDI 0403 section B3.5, MPU: region 0 covers 64 MB from address 0, where chips mirror their flash. Access permission
// 0 is none; everything else keeps the default memory map.
constexpr uint32_t kMpuOn = Bit(0) | Bit(2);
constexpr uint32_t kRegion0FromZero = Bit(4);
constexpr uint32_t kNoAccess64MegaBytes = 25u << 1 | Bit(0);

// An access this far below the stack is taken for one that was meant for it.
constexpr uint32_t kStackReach = 0x2000;

// DDI 0403 section B1.5.6: what the core saves on exception entry; with the FPU's registers it is longer.
struct SavedFrame {
  uint32_t r0, r1, r2, r3, r12, lr, pc, psr;
};
constexpr uint32_t kSavedFloatBytes = 72;
constexpr uint32_t kNoFloatFrame = Bit(4);    // of EXC_RETURN
constexpr uint32_t kFrameWasPadded = Bit(9);  // of the saved PSR

const char* KindOf(uint32_t exception) {
  switch (exception) {
    case kNmi:
      return "nmi";
    case kMemManage:
      return "mem_manage";
    case kBusFault:
      return "bus_fault";
    case kUsageFault:
      return "usage_fault";
    case kSysTick:
      return "hang";
    default:
      return "hard_fault";
  }
}

uint32_t AddressOf(const uint8_t* symbol) { return ports::NumberOf(symbol); }

bool IsBelowStack(uint32_t address) {
  const uint32_t start = AddressOf(_stack_start);
  return address < start && start - address <= kStackReach;
}

bool StackOverflowed(uint32_t sp, uint32_t cfsr, uint32_t mmfar, uint32_t bfar) {
  return (cfsr & (kMemManageStacking | kBusStacking)) != 0 || IsBelowStack(sp) ||
         ((cfsr & kBusAddressValid) != 0 && IsBelowStack(bfar)) ||
         ((cfsr & kMemManageAddressValid) != 0 && IsBelowStack(mmfar));
}

bool IsReadable(const SavedFrame* frame) {
  const auto address = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(frame));
  return address >= AddressOf(_stack_start) && address + sizeof(SavedFrame) <= AddressOf(_handler_stack_end);
}

// Returns the saved program status, 0 when nothing could be saved.
uint32_t AddSavedRegisters(const SavedFrame* frame, uint32_t exception_return, harness::Fault* fault) {
  fault->sp = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(frame));
  if (!IsReadable(frame)) {
    return 0;
  }
  fault->pc = frame->pc;
  fault->lr = frame->lr;
  fault->sp += sizeof(SavedFrame) + (exception_return & kNoFloatFrame ? 0 : kSavedFloatBytes) +
               (frame->psr & kFrameWasPadded ? 4 : 0);
  return frame->psr;
}

}  // namespace

void EnableFloatingPoint() {
  // DDI 0403 section B3.2.20: full access to CP10 and CP11.
  scb_cpacr |= 0xFu << 20;
  asm volatile("dsb\n isb" ::: "memory");
}

void EnableFaults() {
  scb_vtor = AddressOf(_image_start);
  scb_shcsr |= kAllFaults;
  // A kernel that lost its memory writes through a null pointer. Without this the chip would drop such a write
  // silently.
  mpu_rbar = kRegion0FromZero;
  mpu_rasr = kNoAccess64MegaBytes;
  mpu_ctrl = kMpuOn;
  asm volatile("dsb\n isb" ::: "memory");
}

}  // namespace cortex_m

extern "C" [[noreturn, gnu::used]] void ReportFault(const cortex_m::SavedFrame* frame, uint32_t exception_return) {
  uint32_t exception;
  asm volatile("mrs %0, ipsr" : "=r"(exception));
  harness::Fault fault{cortex_m::KindOf(exception)};
  const uint32_t psr = cortex_m::AddSavedRegisters(frame, exception_return, &fault);
  const uint32_t cfsr = cortex_m::scb_cfsr;
  const uint32_t mmfar = cortex_m::scb_mmfar;
  const uint32_t bfar = cortex_m::scb_bfar;
  if (cortex_m::StackOverflowed(fault.sp, cfsr, mmfar, bfar)) {
    fault.kind = "stack_overflow";
  }
  const harness::FaultRegister registers[] = {
      {"psr", psr}, {"cfsr", cfsr}, {"hfsr", cortex_m::scb_hfsr}, {"mmfar", mmfar}, {"bfar", bfar}};
  fault.registers = registers;
  fault.register_count = std::size(registers);
  harness::SendFault(fault);
  platform::Halt();
}

extern "C" [[gnu::used]] void TakeSysTick(const cortex_m::SavedFrame* frame, uint32_t exception_return) {
  if (cortex_m::HangTimerFindsHang()) {
    ReportFault(frame, exception_return);
  }
}

// DDI 0403 section B1.5.8: bit 2 of EXC_RETURN tells which stack the interrupted code ran on.
extern "C" [[gnu::naked]] void FaultEntry() {
  asm volatile(
      "tst lr, #4\n"
      "ite eq\n"
      "mrseq r0, msp\n"
      "mrsne r0, psp\n"
      "mov r1, lr\n"
      "b ReportFault\n");
}

extern "C" [[gnu::naked]] void SysTickEntry() {
  asm volatile(
      "tst lr, #4\n"
      "ite eq\n"
      "mrseq r0, msp\n"
      "mrsne r0, psp\n"
      "mov r1, lr\n"
      "b TakeSysTick\n");
}
