// What the chip has besides its serial line and its faults.
#pragma once

namespace stm32f4 {

// Reads the reset cause, then starts clock, cycle counter, serial line and watchdog.
void StartBoard();

}  // namespace stm32f4
