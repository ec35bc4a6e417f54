// USART2 on PA2 (TX) and PA3 (RX): BAUD_RATE, 8 data bits, no parity, one stop bit.
#pragma once

#include <cstdint>

namespace stm32f4 {

void StartUart(uint32_t apb1_hz);
// Waits until the last byte has left the line.
void DrainUart();

}  // namespace stm32f4
