#include "ports/esp32/uart.h"

#include "app/platform.h"
#include "ports/esp32/registers.h"

namespace esp32 {
namespace {

// UART_STATUS_REG: bytes in the two FIFOs, and the transmitter's state, 0 when it is idle. That an interrupted read of
// a count may falsify it (ESP32 Series SoC Errata, UART-3.17) does not matter here, where there are no interrupts.
constexpr uint32_t Received(uint32_t status) { return status & 0xFF; }
constexpr uint32_t ToBeSent(uint32_t status) { return status >> 16 & 0xFF; }
constexpr uint32_t Transmitting(uint32_t status) { return status >> 24 & 0xF; }
constexpr uint32_t kFifoBytes = 126;  // of 128: the counter is read a little later than it counts

// UART_CLKDIV_REG holds whole clocks per bit, and sixteenths.
constexpr uint32_t kWholeMask = 0xFFFFF;
constexpr int kSixteenthsShift = 20;

constexpr uint32_t kRomBaudRate = 115200;
constexpr uint32_t kMegahertz = 1000000;

}  // namespace

// The ROM has measured its crystal and set up this UART for its own messages: that tells the frequency, whichever
// crystal is on the board and whether or not the PLL runs.
uint32_t UartClockHz() {
  const uint32_t divider = uart_clkdiv;
  const uint32_t sixteenths = (divider & kWholeMask) * 16 + (divider >> kSixteenthsShift & 0xF);
  const auto hertz = static_cast<uint32_t>(uint64_t{sixteenths} * kRomBaudRate / 16);
  return (hertz + kMegahertz / 2) / kMegahertz * kMegahertz;
}

void StartUart(uint32_t clock_hz) {
  DrainUart();  // the ROM's last words go out at the ROM's speed
  const auto sixteenths = static_cast<uint32_t>((uint64_t{clock_hz} * 16 + BAUD_RATE / 2) / BAUD_RATE);
  uart_clkdiv = sixteenths / 16 | sixteenths % 16 << kSixteenthsShift;
}

void DrainUart() {
  while (ToBeSent(uart_status) != 0 || Transmitting(uart_status) != 0) {
  }
}

}  // namespace esp32

// The status is read between any two writes to the FIFO: of writes to the same peripheral address in sequential
// instructions, chip revision v0.0 may lose some (ESP32 Series SoC Errata, CPU-3.3).
void platform::PutByte(uint8_t byte) {
  while (esp32::ToBeSent(esp32::uart_status) >= esp32::kFifoBytes) {
  }
  esp32::uart_fifo = byte;
}

bool platform::GetByte(uint8_t* byte) {
  if (esp32::Received(esp32::uart_status) == 0) {
    return false;
  }
  *byte = static_cast<uint8_t>(esp32::uart_fifo);
  return true;
}
