// SysTick as a watchdog that can still tell where the firmware hangs.
#pragma once

#include <cstdint>

namespace cortex_m {

// From now on the firmware hangs when it does not say within WATCHDOG_MS that it is alive. `systick_hz` is SysTick's
// own clock, which drives it when the core's does not.
void StartHangTimer(uint32_t systick_hz);

// The firmware is alive.
void RestartHangTimer();

// To be called by SysTick's handler: whether the firmware hangs. As long as it does not, the chip's watchdog is
// reloaded.
bool HangTimerFindsHang();

}  // namespace cortex_m
