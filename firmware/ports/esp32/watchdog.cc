#include "ports/esp32/watchdog.h"

#include <cstdint>

#include "app/platform.h"
#include "ports/esp32/registers.h"

namespace esp32 {
namespace {

// RTC_CNTL_WDT_WKEY_VALUE: registers of a watchdog can be written only while this stands in its WDTWPROTECT.
constexpr uint32_t kUnlock = 0x50D83AA1;
constexpr uint32_t kLock = 0;

// RTC_CNTL_WDTCONFIG0_REG: EN, STG0, CPU_RESET_LENGTH and SYS_RESET_LENGTH. Stage 0 resets all of the chip;
// the reset lasts as long as can be.
constexpr uint32_t kEnable = Bit(31);
constexpr uint32_t kStage0ResetsAll = 4u << 28;
constexpr uint32_t kLongResets = 7u << 14 | 7u << 11;
constexpr uint32_t kFeed = Bit(31);

// Nominal, of the RC oscillator that drives the RTC's watchdog; a chip's own may be far slower or faster.
constexpr uint32_t kSlowClockHz = 150000;
constexpr uint64_t kTimeout = uint64_t{WATCHDOG_MS} * kSlowClockHz / 1000;
static_assert(kTimeout > 0 && kTimeout <= UINT32_MAX, "WATCHDOG_MS: up to 28633115");

void Write(const Register& protection, const Register& target, uint32_t value) {
  protection = kUnlock;
  target = value;
  protection = kLock;
}

}  // namespace

void StopBootWatchdogs() {
  Write(rtc_wdtwprotect, rtc_wdtconfig0, 0);
  Write(timg0_wdtwprotect, timg0_wdtconfig0, 0);
  Write(timg1_wdtwprotect, timg1_wdtconfig0, 0);
}

void StartWatchdog() {
  Write(rtc_wdtwprotect, rtc_wdtconfig1, static_cast<uint32_t>(kTimeout));
  Write(rtc_wdtwprotect, rtc_wdtfeed, kFeed);
  Write(rtc_wdtwprotect, rtc_wdtconfig0, kEnable | kStage0ResetsAll | kLongResets);
}

}  // namespace esp32

void platform::KickWatchdog() { esp32::Write(esp32::rtc_wdtwprotect, esp32::rtc_wdtfeed, esp32::kFeed); }
