// What kernels for ESP-NN include of ESP-IDF; ports/esp32/esp_idf.cc has the function.
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

int64_t esp_timer_get_time(void);

#ifdef __cplusplus
}
#endif
