// The registers that the port uses, by their names in RM0090 (STM32F405/407 reference manual) and in the ARMv7-M
// architecture reference manual (DDI 0403).
#pragma once

#include <cstdint>

namespace stm32f4 {

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

// DDI 0403 sections B3.3 (SysTick), B3.2 (system control block), B3.5 (MPU), C1.6 and C1.8 (debug, DWT).
constexpr Register systick_csr(0xE000E010);
constexpr Register systick_rvr(0xE000E014);
constexpr Register systick_cvr(0xE000E018);
constexpr Register scb_vtor(0xE000ED08);
constexpr Register scb_aircr(0xE000ED0C);
constexpr Register scb_shcsr(0xE000ED24);
constexpr Register scb_cfsr(0xE000ED28);
constexpr Register scb_hfsr(0xE000ED2C);
constexpr Register scb_mmfar(0xE000ED34);
constexpr Register scb_bfar(0xE000ED38);
constexpr Register scb_cpacr(0xE000ED88);
constexpr Register mpu_ctrl(0xE000ED94);
constexpr Register mpu_rbar(0xE000ED9C);
constexpr Register mpu_rasr(0xE000EDA0);
constexpr Register debug_demcr(0xE000EDFC);
constexpr Register dwt_ctrl(0xE0001000);
constexpr Register dwt_cyccnt(0xE0001004);

// RM0090 section 38.16.4.
constexpr Register dbgmcu_apb1_fz(0xE0042008);

constexpr uint32_t Bit(int number) { return 1u << number; }

}  // namespace stm32f4
