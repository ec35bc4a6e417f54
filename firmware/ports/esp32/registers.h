// The registers that the port uses, by their names in the ESP32 Technical Reference Manual (TRM), whose chapters have
// other numbers in each version. ESP-IDF has the same addresses and bits in components/soc/esp32/include/soc.
#pragma once

#include <cstdint>

#include "ports/common/register.h"

namespace esp32 {

using ports::Bit;
using ports::Register;

// TRM, "System and Memory", peripheral address mapping; ESP-IDF: reg_base.h or soc.h.
constexpr uint32_t kDport = 0x3FF00000;
constexpr uint32_t kFlashMmuTable = 0x3FF10000;  // of the PRO CPU: one word per page
constexpr uint32_t kUart0 = 0x3FF40000;
constexpr uint32_t kRtcControl = 0x3FF48000;
constexpr uint32_t kEfuse = 0x3FF5A000;
constexpr uint32_t kTimerGroup0 = 0x3FF5F000;
constexpr uint32_t kTimerGroup1 = 0x3FF60000;

// TRM, "DPort Registers"; ESP-IDF: dport_reg.h.
constexpr Register pro_cache_ctrl(kDport + 0x40);
constexpr Register pro_cache_ctrl1(kDport + 0x44);
constexpr Register pro_dcache_dbug0(kDport + 0x3F0);

// TRM, "UART Controller"; ESP-IDF: uart_reg.h.
constexpr Register uart_fifo(kUart0 + 0x00);
constexpr Register uart_clkdiv(kUart0 + 0x14);
constexpr Register uart_status(kUart0 + 0x1C);

// RTC_CNTL; ESP-IDF: rtc_cntl_reg.h.
constexpr Register rtc_options0(kRtcControl + 0x00);
constexpr Register rtc_reset_state(kRtcControl + 0x34);
constexpr Register rtc_wdtconfig0(kRtcControl + 0x8C);
constexpr Register rtc_wdtconfig1(kRtcControl + 0x90);
constexpr Register rtc_wdtfeed(kRtcControl + 0xA0);
constexpr Register rtc_wdtwprotect(kRtcControl + 0xA4);

// TIMG; ESP-IDF: timer_group_reg.h.
constexpr Register timg0_wdtconfig0(kTimerGroup0 + 0x48);
constexpr Register timg0_wdtwprotect(kTimerGroup0 + 0x64);
constexpr Register timg1_wdtconfig0(kTimerGroup1 + 0x48);
constexpr Register timg1_wdtwprotect(kTimerGroup1 + 0x64);

// Block 0 of the eFuses holds the MAC address that the factory burnt; ESP-IDF: efuse_reg.h.
constexpr Register efuse_blk0_rdata1(kEfuse + 0x04);
constexpr Register efuse_blk0_rdata2(kEfuse + 0x08);

}  // namespace esp32
