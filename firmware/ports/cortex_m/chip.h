// What the port of a chip with a Cortex-M must provide, besides platform.h and a vector table (vector_table.h).
#pragma once

namespace chip {

// Reads the reset cause, then starts clock, cycle counter, serial line and watchdog.
void StartBoard();

// Puts off the reset by the chip's own watchdog. SysTick's handler calls it as long as the firmware does not hang.
void ReloadWatchdog();

}  // namespace chip
