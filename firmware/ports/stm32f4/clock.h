// The core clock: 168 MHz from the crystal, or as near as the board allows.
#pragma once

#include <cstdint>

namespace stm32f4 {

struct Clock {
  uint32_t core_hz;
  uint32_t apb1_hz;
  const char* source;  // "hse_pll", "hsi_pll" or "hsi"
};

// Raises the clock. Falls back to the internal oscillator when the crystal does not start, and to the reset clock of
// 16 MHz when the PLL does not lock.
Clock StartClock();

}  // namespace stm32f4
