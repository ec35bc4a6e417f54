// The cycle counter of the DWT.
#include <cstdint>

#include "app/platform.h"
#include "ports/cortex_m/architecture.h"
#include "ports/cortex_m/v7_m/registers.h"

namespace cortex_m {
namespace {

// DDI 0403 sections C1.6.5 and C1.8.7.
constexpr uint32_t kTraceOn = Bit(24);
constexpr uint32_t kCycleCounterOn = Bit(0);

}  // namespace

void StartCycleCounter() {
  debug_demcr |= kTraceOn;
  dwt_cyccnt = 0;
  dwt_ctrl |= kCycleCounterOn;
}

}  // namespace cortex_m

uint32_t platform::Ticks() { return cortex_m::dwt_cyccnt; }
