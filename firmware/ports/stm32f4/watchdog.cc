#include "ports/stm32f4/watchdog.h"

#include <cstdint>

#include "app/platform.h"
#include "ports/cortex_m/chip.h"
#include "ports/cortex_m/hang_timer.h"
#include "ports/stm32f4/registers.h"

namespace stm32f4 {
namespace {

// RM0090 section 21.4: the keys, and the prescaler 1/256.
constexpr uint32_t kKeyReload = 0xAAAA;
constexpr uint32_t kKeyUnlock = 0x5555;
constexpr uint32_t kKeyStart = 0xCCCC;
constexpr uint32_t kPrescaler256 = 6;

// The data sheet's typical LSI; a chip's own may lie between 17 and 47 kHz.
constexpr uint32_t kLsiHz = 32000;
constexpr uint32_t kReload = static_cast<uint32_t>(uint64_t{WATCHDOG_MS} * kLsiHz / 256 / 1000);
static_assert(kReload > 0 && kReload <= 0xFFF, "WATCHDOG_MS: 8 to 32760");

// RM0090 section 38.16.4: the watchdog waits while a debugger halts the core.
constexpr uint32_t kStopWhenHalted = Bit(12);

constexpr uint32_t kMaxPolls = 1000000;

// RM0090 section 7.2: SysTick's own clock is an eighth of the core's.
constexpr uint32_t kSysTickDivider = 8;

}  // namespace

void StartWatchdog(uint32_t core_hz) {
  cortex_m::StartHangTimer(core_hz / kSysTickDivider);
  dbgmcu_apb1_fz |= kStopWhenHalted;
  iwdg_kr = kKeyStart;
  iwdg_kr = kKeyUnlock;
  iwdg_pr = kPrescaler256;
  iwdg_rlr = kReload;
  // Both values cross to the LSI's clock domain, which takes some of its periods.
  for (uint32_t poll = 0; poll < kMaxPolls && iwdg_sr != 0; ++poll) {
  }
  iwdg_kr = kKeyReload;
}

}  // namespace stm32f4

void chip::ReloadWatchdog() { stm32f4::iwdg_kr = stm32f4::kKeyReload; }

void platform::KickWatchdog() {
  cortex_m::RestartHangTimer();
  chip::ReloadWatchdog();
}
