#include <cstdint>

#include "app/platform.h"
#include "ports/cortex_m/architecture.h"
#include "ports/cortex_m/chip.h"
#include "ports/cortex_m/core.h"
#include "ports/stm32f4/clock.h"
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

// A reset that this firmware asked for; start-up code leaves this word as the reset found it.
constexpr uint32_t kOwnReset = 0x4F574E52;
[[gnu::section(".noinit")]] uint32_t reset_mark;

Clock clock{};
const char* reset_reason = "unknown";

// Every reset also pulls the pin, and a power-up also counts as a brownout: the most telling flag comes first. A
// debugger resets by the same register as software does.
const char* ReadResetReason() {
  const uint32_t flags = rcc_csr;
  const bool is_own = reset_mark == kOwnReset;
  reset_mark = 0;
  rcc_csr |= kClearResetFlags;
  if (flags & (kWatchdogReset | kWindowWatchdogReset)) {
    return "watchdog";
  }
  if (flags & kSoftwareReset) {
    return is_own ? "software" : "debugger";
  }
  if (flags & kPowerReset) {
    return "power";
  }
  if (flags & kBrownoutReset) {
    return "brownout";
  }
  return flags & kPinReset ? "pin" : "unknown";
}

}  // namespace
}  // namespace stm32f4

void chip::StartBoard() {
  stm32f4::reset_reason = stm32f4::ReadResetReason();
  stm32f4::clock = stm32f4::StartClock();
  cortex_m::StartCycleCounter();
  stm32f4::StartUart(stm32f4::clock.apb1_hz);
  stm32f4::StartWatchdog(stm32f4::clock.core_hz);
}

namespace platform {

uint32_t ClockHz() { return stm32f4::clock.core_hz; }
const char* ClockSource() { return stm32f4::clock.source; }
const char* ResetReason() { return stm32f4::reset_reason; }

Region UniqueId() { return {reinterpret_cast<uint8_t*>(stm32f4::kUniqueIdAddress), stm32f4::kUniqueIdBytes}; }

void Reset() {
  stm32f4::DrainUart();
  stm32f4::reset_mark = stm32f4::kOwnReset;
  cortex_m::ResetChip();
}

}  // namespace platform
