#include "ports/stm32f4/uart.h"

#include "app/platform.h"
#include "ports/stm32f4/registers.h"

namespace stm32f4 {
namespace {

// RM0090 section 7.3.10 and 7.3.13.
constexpr uint32_t kGpioAClock = Bit(0);
constexpr uint32_t kUsart2Clock = Bit(17);
// RM0090 section 30.6.1, USART_SR.
constexpr uint32_t kReceived = Bit(5);
constexpr uint32_t kSent = Bit(6);
constexpr uint32_t kSendEmpty = Bit(7);
// RM0090 section 30.6.4, USART_CR1.
constexpr uint32_t kUartOn = Bit(13);
constexpr uint32_t kSenderOn = Bit(3);
constexpr uint32_t kReceiverOn = Bit(2);
// RM0090 section 8.4: alternate function 7 of PA2 and PA3 is USART2 (data sheet, table 9).
constexpr uint32_t kPinBits = 0xFu << 4;  // two mode bits for each of PA2, PA3
constexpr uint32_t kAlternateMode = 2u << 4 | 2u << 6;
constexpr uint32_t kPullUpReceive = 1u << 6;
constexpr uint32_t kFunctionBits = 0xFFu << 8;
constexpr uint32_t kFunction7 = 7u << 8 | 7u << 12;

// USART2 holds one received byte. What arrives while the firmware sends is kept here.
constexpr uint32_t kWaitingBytes = 256;
static_assert((kWaitingBytes & (kWaitingBytes - 1)) == 0, "indices wrap by masking");

struct ReceiveQueue {
  uint8_t bytes[kWaitingBytes] = {};
  uint32_t put = 0;
  uint32_t taken = 0;
};

ReceiveQueue queue;

void KeepReceived(uint32_t status) {
  if ((status & kReceived) == 0) {
    return;
  }
  const auto byte = static_cast<uint8_t>(usart2_dr);
  if (queue.put - queue.taken < kWaitingBytes) {
    queue.bytes[queue.put++ % kWaitingBytes] = byte;
  }
}

}  // namespace

void StartUart(uint32_t apb1_hz) {
  rcc_ahb1enr |= kGpioAClock;
  rcc_apb1enr |= kUsart2Clock;
  gpioa_afrl = (gpioa_afrl & ~kFunctionBits) | kFunction7;
  gpioa_pupdr = (gpioa_pupdr & ~kPinBits) | kPullUpReceive;
  gpioa_moder = (gpioa_moder & ~kPinBits) | kAlternateMode;
  // RM0090 section 30.3.4: with 16-fold oversampling BRR is the clock divided by the rate.
  usart2_brr = (apb1_hz + BAUD_RATE / 2) / BAUD_RATE;
  usart2_cr1 = kUartOn | kSenderOn | kReceiverOn;
}

void DrainUart() {
  while ((usart2_sr & kSent) == 0) {
  }
}

}  // namespace stm32f4

void platform::PutByte(uint8_t byte) {
  uint32_t status;
  do {
    status = stm32f4::usart2_sr;
    stm32f4::KeepReceived(status);
  } while ((status & stm32f4::kSendEmpty) == 0);
  stm32f4::usart2_dr = byte;
}

bool platform::GetByte(uint8_t* byte) {
  stm32f4::KeepReceived(stm32f4::usart2_sr);
  if (stm32f4::queue.put == stm32f4::queue.taken) {
    return false;
  }
  *byte = stm32f4::queue.bytes[stm32f4::queue.taken++ % stm32f4::kWaitingBytes];
  return true;
}
