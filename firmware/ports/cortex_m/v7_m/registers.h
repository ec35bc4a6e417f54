// The registers of ARMv7-M that not every Cortex-M has, by their names in its reference manual (DDI 0403).
#pragma once

#include <cstdint>

#include "ports/common/register.h"

namespace cortex_m {

using ports::Bit;
using ports::Register;

// DDI 0403 sections B3.2 (system control block), B3.5 (MPU), C1.6 and C1.8 (debug, DWT).
constexpr Register scb_vtor(0xE000ED08);
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

}  // namespace cortex_m
