#include "ports/cortex_m/core.h"

#include <cstdint>

#include "app/platform.h"
#include "ports/cortex_m/registers.h"

namespace cortex_m {
namespace {

// DDI 0403 section B3.2.6: the key that AIRCR wants, and SYSRESETREQ.
constexpr uint32_t kResetRequest = 0x05FA0000 | Bit(2);

}  // namespace

void ResetChip() {
  scb_aircr = kResetRequest;
  platform::Halt();
}

}  // namespace cortex_m

void platform::Halt() {
  // SysTick would tell the watchdog that all is well.
  asm volatile("cpsid i" ::: "memory");
  for (;;) {
    // Not empty: an endless loop without side effects may be removed ([intro.progress]).
    asm volatile("");
  }
}
