// UART0 on the pins that the ROM has set up (TX GPIO1, RX GPIO3): BAUD_RATE, 8 data bits, no parity, one stop bit.
#pragma once

#include <cstdint>

namespace esp32 {

// The frequency of the clock that drives UART0, in Hz. To be asked before StartUart().
uint32_t UartClockHz();
void StartUart(uint32_t clock_hz);
// Waits until the last byte has left the line.
void DrainUart();

}  // namespace esp32
