#include "ports/stm32f4/clock.h"

#include "ports/stm32f4/registers.h"

namespace stm32f4 {
namespace {

constexpr uint32_t kHsiHz = 16000000;
constexpr uint32_t kHseHz = HSE_HZ;
// RM0090 section 7.3.2: the PLL's input is divided to 1 MHz, its VCO runs at 336 MHz, and half of that is the core
// clock.
constexpr uint32_t kPllInputHz = 1000000;
constexpr uint32_t kPllN = 336;
constexpr uint32_t kPllQ = 7;
constexpr uint32_t kCoreHz = kPllInputHz * kPllN / 2;
static_assert(kCoreHz == 168000000, "the highest that the STM32F407 allows");
static_assert(kHseHz >= 4000000 && kHseHz <= 26000000 && kHseHz % kPllInputHz == 0,
              "HSE_HZ: whole megahertz, 4 to 26 (data sheet, section 5.3.8)");

// RM0090 section 7.3.1, RCC_CR.
constexpr uint32_t kHseOn = Bit(16);
constexpr uint32_t kHseReady = Bit(17);
constexpr uint32_t kPllOn = Bit(24);
constexpr uint32_t kPllReady = Bit(25);
// RM0090 section 7.3.2, RCC_PLLCFGR.
constexpr uint32_t kPllFromHse = Bit(22);
// RM0090 section 7.3.3, RCC_CFGR: APB1 = core / 4, APB2 = core / 2, system clock from the PLL.
constexpr uint32_t kApb1Div4 = 5u << 10;
constexpr uint32_t kApb2Div2 = 4u << 13;
constexpr uint32_t kSwitchToPll = 2;
constexpr uint32_t kSwitchStatus = 3u << 2;
constexpr uint32_t kRunsOnPll = 2u << 2;
// RM0090 section 5.4.1, PWR_CR: voltage scale 1 is what 168 MHz needs.
constexpr uint32_t kPwrClock = Bit(28);
constexpr uint32_t kVoltageScale1 = Bit(14);
// RM0090 table 10: 5 wait states at 168 MHz and 2.7 to 3.6 V. Section 3.9.1: prefetch, instruction and data cache.
constexpr uint32_t kFlashLatency = 7;
constexpr uint32_t kFlashLatency5 = 5;
constexpr uint32_t kFlashCaches = Bit(8) | Bit(9) | Bit(10);

// A crystal needs milliseconds (data sheet, section 5.3.8: 2 ms); this is some 50 ms at 16 MHz.
constexpr uint32_t kMaxPolls = 100000;

bool WaitFor(const Register& flags, uint32_t mask, uint32_t value) {
  for (uint32_t poll = 0; poll < kMaxPolls; ++poll) {
    if ((flags & mask) == value) {
      return true;
    }
  }
  return false;
}

}  // namespace

Clock StartClock() {
  rcc_apb1enr |= kPwrClock;
  pwr_cr |= kVoltageScale1;

  rcc_cr |= kHseOn;
  const bool crystal = WaitFor(rcc_cr, kHseReady, kHseReady);
  const uint32_t pll_m = (crystal ? kHseHz : kHsiHz) / kPllInputHz;
  rcc_pllcfgr = kPllQ << 24 | (crystal ? kPllFromHse : 0) | kPllN << 6 | pll_m;
  rcc_cr |= kPllOn;
  // RM0090 section 3.5.1: the clock may rise only after the longer latency reads back.
  flash_acr = kFlashCaches | kFlashLatency5;
  if (!WaitFor(rcc_cr, kPllReady, kPllReady) || !WaitFor(flash_acr, kFlashLatency, kFlashLatency5)) {
    return {kHsiHz, kHsiHz, "hsi"};
  }

  rcc_cfgr = kApb1Div4 | kApb2Div2 | kSwitchToPll;
  if (!WaitFor(rcc_cfgr, kSwitchStatus, kRunsOnPll)) {
    return {kHsiHz, kHsiHz / 4, "hsi"};
  }
  return {kCoreHz, kCoreHz / 4, crystal ? "hse_pll" : "hsi_pll"};
}

}  // namespace stm32f4
