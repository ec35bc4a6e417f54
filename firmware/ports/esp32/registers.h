// The registers that the port uses, by their names in the ESP32 Technical Reference Manual (TRM).
#pragma once

#include <cstdint>

namespace esp32 {

// A memory-mapped register of 32 bits.
class Register {
 public:
  explicit constexpr Register(uint32_t address) : address_(address) {}

  operator uint32_t() const { return Access(); }
  void operator=(uint32_t value) const { Access() = value; }
  void operator|=(uint32_t bits) const { Access() = Access() | bits; }

 private:
  volatile uint32_t& Access() const { return *reinterpret_cast<volatile uint32_t*>(address_); }

  uint32_t address_;
};

// TRM table 1-6, peripheral address mapping.
constexpr uint32_t kUart0 = 0x3FF40000;
constexpr uint32_t kRtcControl = 0x3FF48000;
constexpr uint32_t kEfuse = 0x3FF5A000;
constexpr uint32_t kTimerGroup0 = 0x3FF5F000;
constexpr uint32_t kTimerGroup1 = 0x3FF60000;

// TRM section 13.4, UART.
constexpr Register uart_fifo(kUart0 + 0x00);
constexpr Register uart_clkdiv(kUart0 + 0x14);
constexpr Register uart_status(kUart0 + 0x1C);

// TRM section 31.4, RTC_CNTL.
constexpr Register rtc_options0(kRtcControl + 0x00);
constexpr Register rtc_reset_state(kRtcControl + 0x34);
constexpr Register rtc_wdtconfig0(kRtcControl + 0x8C);
constexpr Register rtc_wdtconfig1(kRtcControl + 0x90);
constexpr Register rtc_wdtfeed(kRtcControl + 0xA0);
constexpr Register rtc_wdtwprotect(kRtcControl + 0xA4);

// TRM section 18.4, timer groups.
constexpr Register timg0_wdtconfig0(kTimerGroup0 + 0x48);
constexpr Register timg0_wdtwprotect(kTimerGroup0 + 0x64);
constexpr Register timg1_wdtconfig0(kTimerGroup1 + 0x48);
constexpr Register timg1_wdtwprotect(kTimerGroup1 + 0x64);

// TRM section 20.5, eFuse: block 0 holds the MAC address that the factory burnt.
constexpr Register efuse_blk0_rdata1(kEfuse + 0x04);
constexpr Register efuse_blk0_rdata2(kEfuse + 0x08);

constexpr uint32_t Bit(int number) { return 1u << number; }

}  // namespace esp32
