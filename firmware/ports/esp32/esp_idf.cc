// What libraries built by ESP-IDF expect of it: esp-tflite-micro's kernels add up how long they take.
#include <cstdint>

#include "app/platform.h"

namespace {

constexpr uint32_t kMicrosecondsPerSecond = 1000000;

}  // namespace

// esp_timer.h. Microseconds; it wraps with the counter of clock cycles.
extern "C" int64_t esp_timer_get_time() { return platform::Ticks() / (platform::ClockHz() / kMicrosecondsPerSecond); }
