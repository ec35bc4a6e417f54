// The watchdogs: those that the ROM leaves awake, and the one that guards the firmware.
#pragma once

namespace esp32 {

void StopBootWatchdogs();
// From now on the chip is reset WATCHDOG_MS after the last platform::KickWatchdog().
void StartWatchdog();

}  // namespace esp32
