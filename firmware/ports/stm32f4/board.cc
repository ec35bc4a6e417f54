#include "ports/stm32f4/board.h"

#include <cstdint>

#include "app/platform.h"
#include "ports/stm32f4/clock.h"
#include "ports/stm32f4/linker_symbols.h"
#include "ports/stm32f4/registers.h"
#include "ports/stm32f4/uart.h"
#include "ports/stm32f4/watchdog.h"

namespace stm32f4 {
namespace {

// RM0090 section 7.3.21, RCC_CSR.
constexpr uint32_t kWindowWatchdogReset = Bit(30);
constexpr uint32_t kWatchdogReset = Bit(29);
constexpr uint32_t kSoftwareReset = Bit(28);
constexpr uint32_t kPowerReset = Bit(27);
constexpr uint32_t kPinReset = Bit(26);
constexpr uint32_t kBrownoutReset = Bit(25);
constexpr uint32_t kClearResetFlags = Bit(24);

// RM0090 section 39.1: the 96 bits of the unique device id.
constexpr uint32_t kUniqueIdAddress = 0x1FFF7A10;
constexpr uint32_t kUniqueIdBytes = 12;

// DDI 0403 section B3.2.6: the key that AIRCR wants, and SYSRESETREQ.
constexpr uint32_t kResetRequest = 0x05FA0000 | Bit(2);
// DDI 0403 sections C1.6.5 and C1.8.7.
constexpr uint32_t kTraceOn = Bit(24);
constexpr uint32_t kCycleCounterOn = Bit(0);

Clock clock{};
const char* reset_reason = "unknown";

// Every reset also pulls the pin, and a power-up also counts as a brownout: the most telling flag comes first.
const char* ReadResetReason() {
  const uint32_t flags = rcc_csr;
  rcc_csr |= kClearResetFlags;
  if (flags & (kWatchdogReset | kWindowWatchdogReset)) {
    return "watchdog";
  }
  if (flags & kSoftwareReset) {
    return "software";
  }
  if (flags & kPowerReset) {
    return "power";
  }
  if (flags & kBrownoutReset) {
    return "brownout";
  }
  return flags & kPinReset ? "pin" : "unknown";
}

void StartCycleCounter() {
  debug_demcr |= kTraceOn;
  dwt_cyccnt = 0;
  dwt_ctrl |= kCycleCounterOn;
}

}  // namespace

void StartBoard() {
  reset_reason = ReadResetReason();
  clock = StartClock();
  StartCycleCounter();
  StartUart(clock.apb1_hz);
  StartWatchdog(clock.core_hz);
}

}  // namespace stm32f4

namespace platform {

uint32_t Ticks() { return stm32f4::dwt_cyccnt; }
uint32_t ClockHz() { return stm32f4::clock.core_hz; }
const char* ClockSource() { return stm32f4::clock.source; }
const char* ResetReason() { return stm32f4::reset_reason; }

Region UniqueId() { return {reinterpret_cast<uint8_t*>(stm32f4::kUniqueIdAddress), stm32f4::kUniqueIdBytes}; }

Region Stack() { return {_stack_start, static_cast<uint32_t>(_stack_end - _stack_start)}; }

uint8_t* StackPointer() { return static_cast<uint8_t*>(__builtin_frame_address(0)); }

Region ArenaRam() { return {_arena_ram_start, static_cast<uint32_t>(_arena_ram_end - _arena_ram_start)}; }

Region ModelFlash() { return {_model_flash_start, stm32f4::NumberOf(_model_flash_size)}; }

Region FirmwareImage() { return {_image_start, stm32f4::NumberOf(_image_size)}; }

void Reset() {
  stm32f4::DrainUart();
  stm32f4::scb_aircr = stm32f4::kResetRequest;
  Halt();
}

void Halt() {
  // SysTick would tell the watchdog that all is well.
  asm volatile("cpsid i" ::: "memory");
  for (;;) {
    // Not empty: an endless loop without side effects may be removed ([intro.progress]).
    asm volatile("");
  }
}

}  // namespace platform
