// Two watchdogs. SysTick's handler finds out WATCHDOG_MS after the last platform::KickWatchdog() that the firmware hangs,
// and can still tell where. The independent watchdog resets the chip WATCHDOG_MS after that, or after SysTick has stopped.
#pragma once

#include <cstdint>

namespace stm32f4 {

void StartWatchdog(uint32_t core_hz);

// To be called by SysTick's handler: whether the firmware hangs.
bool WatchdogFindsHang();

}  // namespace stm32f4
