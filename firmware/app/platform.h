// What a port must provide. Nothing above this header knows the chip.
#pragma once

#include <cstddef>
#include <cstdint>

namespace harness {

// The application. A port calls it once static data is initialised, on the stack that Stack() describes.
[[noreturn]] void RunFirmware();

}  // namespace harness

namespace platform {

// A stretch of the address space. `start` may be written only where the function says RAM.
struct Region {
  uint8_t* start;
  uint32_t size;
};

// Sends one byte, waiting until the serial line takes it. Must work inside a fault handler.
void PutByte(uint8_t byte);
// Takes one received byte; false when none is waiting.
bool GetByte(uint8_t* byte);

// A counter that goes up once per core clock cycle and wraps at 2^32.
uint32_t Ticks();
uint32_t ClockHz();
// What the core clock is made from, such as "hse_pll".
const char* ClockSource();

// Why the chip started: "power", "pin", "software", "watchdog", "brownout" or "unknown".
const char* ResetReason();
// The chip's unique id, constant for the life of the chip.
Region UniqueId();

// Tells the watchdog that the firmware is alive.
void KickWatchdog();

// What follows, up to FirmwareImage(), is what the linker script says; ports/common/regions.cc has it for all ports.

// The RAM of the stack that RunFirmware() runs on; it grows from the end towards the start.
Region Stack();
// The lowest address that the caller's frame may use.
uint8_t* StackPointer();
// The RAM that nothing else uses, its start aligned to 16: guard bands and arena go here.
Region ArenaRam();
// The flash region that holds a model behind its header.
Region ModelFlash();
// The firmware's own image in flash.
Region FirmwareImage();

// Resets the chip as if by software, after the last byte has left the serial line.
[[noreturn]] void Reset();
// Stops for good, without telling the watchdog: it, or the host, resets the chip.
[[noreturn]] void Halt();

}  // namespace platform
