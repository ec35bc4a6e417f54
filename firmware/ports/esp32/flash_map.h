// The flash that the core reads in place, through its cache: the firmware's code and constants, and the model.
#pragma once

namespace esp32 {

// Maps it. No function of the ROM may be called afterwards. Where flash cannot be read, or is not what was flashed,
// says so in a fault frame, and does not return.
void MapFlash();

}  // namespace esp32
