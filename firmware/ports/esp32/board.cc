#include "ports/esp32/board.h"

#include <cstdint>

#include "app/platform.h"
#include "ports/esp32/registers.h"
#include "ports/esp32/uart.h"
#include "ports/esp32/watchdog.h"

namespace esp32 {
namespace {

// RTC_CNTL_RESET_STATE_REG, RESET_CAUSE_PROCPU: the cause of this core's last reset.
constexpr uint32_t kResetCauseMask = 0x3F;
// RTC_CNTL_OPTIONS0_REG, SW_SYS_RST.
constexpr uint32_t kResetSystem = Bit(31);

constexpr uint32_t kMacBytes = 6;

uint32_t core_hz = 0;
uint8_t mac[kMacBytes];

// The MAC address's first byte is the highest of its 48 bits.
void ReadMac() {
  const uint64_t bits = uint64_t{efuse_blk0_rdata2} << 32 | efuse_blk0_rdata1;
  for (uint32_t i = 0; i < kMacBytes; ++i) {
    mac[i] = static_cast<uint8_t>(bits >> (8 * (kMacBytes - 1 - i)));
  }
}

}  // namespace

void StartBoard() {
  ReadMac();
  // Up to 80 MHz core and UART have the same clock (TRM, "Reset and Clock"), and the ROM does not go beyond.
  core_hz = UartClockHz();
  StartUart(core_hz);
  StartWatchdog();
}

}  // namespace esp32

namespace platform {

uint32_t Ticks() {
  uint32_t cycles;
  asm volatile("rsr.ccount %0" : "=r"(cycles));
  return cycles;
}

uint32_t ClockHz() { return esp32::core_hz; }
const char* ClockSource() { return "rom"; }

// RESET_REASON in ESP-IDF's components/esp_rom/include/esp32/rom/rtc.h. A press of the EN button looks like power-up.
const char* ResetReason() {
  switch (esp32::rtc_reset_state & esp32::kResetCauseMask) {
    case 1:
      return "power";
    case 3:   // system, by software
    case 12:  // core, by software
      return "software";
    case 7:   // timer group 0
    case 8:   // timer group 1
    case 9:   // RTC watchdog, system
    case 11:  // timer group, core
    case 13:  // RTC watchdog, core
    case 16:  // RTC watchdog, all
      return "watchdog";
    case 15:
      return "brownout";
    default:
      return "unknown";
  }
}

Region UniqueId() { return {esp32::mac, esp32::kMacBytes}; }

void Reset() {
  esp32::DrainUart();
  esp32::rtc_options0 |= esp32::kResetSystem;
  Halt();
}

void Halt() {
  for (;;) {
    // Not empty: an endless loop without side effects may be removed ([intro.progress]).
    asm volatile("");
  }
}

}  // namespace platform
