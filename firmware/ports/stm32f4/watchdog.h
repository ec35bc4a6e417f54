// Two watchdogs. SysTick's handler finds out WATCHDOG_MS after the last platform::KickWatchdog() that the firmware
// hangs, and can still tell where (hang_timer.h). The independent watchdog resets the chip WATCHDOG_MS after that, or
// after SysTick has stopped.
#pragma once

#include <cstdint>

namespace stm32f4 {

void StartWatchdog(uint32_t core_hz);

}  // namespace stm32f4
