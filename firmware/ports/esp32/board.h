// What the chip has besides its serial line and its faults.
#pragma once

namespace esp32 {

// Starts serial line and watchdog, and reads what the chip says of itself.
void StartBoard();

}  // namespace esp32
