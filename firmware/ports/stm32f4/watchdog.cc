#include "ports/stm32f4/watchdog.h"

#include <cstdint>

#include "app/platform.h"
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

// DDI 0403 section B3.3.3: the counter and its interrupt on, at an eighth of the core clock (RM0090 section 7.2).
constexpr uint32_t kSysTickOn = Bit(0) | Bit(1);
constexpr uint32_t kSysTickDivider = 8;
constexpr uint32_t kTicksPerSecond = 4;
constexpr uint32_t kTicksToHang = uint32_t{WATCHDOG_MS} * kTicksPerSecond / 1000;
static_assert(kTicksToHang > 1, "WATCHDOG_MS: 500 or more, so that SysTick comes first");

volatile uint32_t ticks_since_kick = 0;

void StartSysTick(uint32_t core_hz) {
  systick_rvr = core_hz / kSysTickDivider / kTicksPerSecond - 1;
  systick_cvr = 0;
  systick_csr = kSysTickOn;
}

}  // namespace

void StartWatchdog(uint32_t core_hz) {
  StartSysTick(core_hz);
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

bool WatchdogFindsHang() {
  ticks_since_kick = ticks_since_kick + 1;
  if (ticks_since_kick > kTicksToHang) {
    return true;
  }
  iwdg_kr = kKeyReload;
  return false;
}

}  // namespace stm32f4

void platform::KickWatchdog() {
  stm32f4::ticks_since_kick = 0;
  stm32f4::iwdg_kr = stm32f4::kKeyReload;
}
