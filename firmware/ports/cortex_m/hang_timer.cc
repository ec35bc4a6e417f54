#include "ports/cortex_m/hang_timer.h"

#include "ports/cortex_m/chip.h"
#include "ports/cortex_m/registers.h"

namespace cortex_m {
namespace {

// DDI 0403 section B3.3.3: the counter and its interrupt on, at the external reference clock.
constexpr uint32_t kSysTickOn = Bit(0) | Bit(1);
constexpr uint32_t kTicksPerSecond = 4;
constexpr uint32_t kTicksToHang = uint32_t{WATCHDOG_MS} * kTicksPerSecond / 1000;
static_assert(kTicksToHang > 1, "WATCHDOG_MS: 500 or more, so that SysTick comes first");

volatile uint32_t ticks_since_sign_of_life = 0;

}  // namespace

void StartHangTimer(uint32_t systick_hz) {
  systick_rvr = systick_hz / kTicksPerSecond - 1;
  systick_cvr = 0;
  systick_csr = kSysTickOn;
}

void RestartHangTimer() { ticks_since_sign_of_life = 0; }

bool HangTimerFindsHang() {
  ticks_since_sign_of_life = ticks_since_sign_of_life + 1;
  if (ticks_since_sign_of_life > kTicksToHang) {
    return true;
  }
  chip::ReloadWatchdog();
  return false;
}

}  // namespace cortex_m
