// The independent watchdog: resets the chip WATCHDOG_MS after the last platform::KickWatchdog().
#pragma once

namespace stm32f4 {

void StartWatchdog();

}  // namespace stm32f4
