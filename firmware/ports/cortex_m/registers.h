// The registers that every Cortex-M has, by their names in the ARMv7-M architecture reference manual (DDI 0403). What
// only some versions of the architecture have lies in their folders.
#pragma once

#include <cstdint>

#include "ports/common/register.h"

namespace cortex_m {

using ports::Bit;
using ports::Register;

// DDI 0403 section B3.3, SysTick.
constexpr Register systick_csr(0xE000E010);
constexpr Register systick_rvr(0xE000E014);
constexpr Register systick_cvr(0xE000E018);

// DDI 0403 section B3.2, system control block.
constexpr Register scb_aircr(0xE000ED0C);

}  // namespace cortex_m
