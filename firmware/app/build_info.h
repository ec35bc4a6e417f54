// What the build knows: HARNESS_BUILD_ID, HARNESS_BOARD_ID and HARNESS_TFLM_GENERATION come from the compiler's command
// line.
#pragma once

#include <cstddef>

namespace harness {

constexpr size_t kBuildIdDigits = 16;

// Where the build id stands in the info block: behind the magic, the version and the size.
constexpr size_t kInfoBuildIdOffset = 8 + 2 * sizeof(void*);

// 16 hex digits; the same inputs give the same id.
extern const char kBuildId[kBuildIdDigits + 1];
extern const char kBoardId[];
// Such as "2020-07". A layer over TFLM may serve several.
extern const char kTflmGeneration[];

}  // namespace harness
