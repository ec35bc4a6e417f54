// The registers of the chip that the port uses, by their names in RM0090 (STM32F405/407 reference manual).
#pragma once

#include <cstdint>

#include "ports/common/register.h"

namespace stm32f4 {

using ports::Bit;
using ports::Register;

// RM0090 section 2.3, memory map.
constexpr uint32_t kIwdg = 0x40003000;
constexpr uint32_t kUsart2 = 0x40004400;
constexpr uint32_t kPwr = 0x40007000;
constexpr uint32_t kGpioA = 0x40020000;
constexpr uint32_t kRcc = 0x40023800;
constexpr uint32_t kFlashInterface = 0x40023C00;

// RM0090 section 7.3, RCC.
constexpr Register rcc_cr(kRcc + 0x00);
constexpr Register rcc_pllcfgr(kRcc + 0x04);
constexpr Register rcc_cfgr(kRcc + 0x08);
constexpr Register rcc_ahb1enr(kRcc + 0x30);
constexpr Register rcc_apb1enr(kRcc + 0x40);
constexpr Register rcc_csr(kRcc + 0x74);

// RM0090 section 5.4, PWR.
constexpr Register pwr_cr(kPwr + 0x00);

// RM0090 section 3.9, flash interface.
constexpr Register flash_acr(kFlashInterface + 0x00);

// RM0090 section 8.4, GPIO.
constexpr Register gpioa_moder(kGpioA + 0x00);
constexpr Register gpioa_pupdr(kGpioA + 0x0C);
constexpr Register gpioa_afrl(kGpioA + 0x20);

// RM0090 section 30.6, USART.
constexpr Register usart2_sr(kUsart2 + 0x00);
constexpr Register usart2_dr(kUsart2 + 0x04);
constexpr Register usart2_brr(kUsart2 + 0x08);
constexpr Register usart2_cr1(kUsart2 + 0x0C);

// RM0090 section 21.4, IWDG.
constexpr Register iwdg_kr(kIwdg + 0x00);
constexpr Register iwdg_pr(kIwdg + 0x04);
constexpr Register iwdg_rlr(kIwdg + 0x08);
constexpr Register iwdg_sr(kIwdg + 0x0C);

// RM0090 section 38.16.4.
constexpr Register dbgmcu_apb1_fz(0xE0042008);

}  // namespace stm32f4
