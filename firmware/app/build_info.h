// What the build knows: HARNESS_BUILD_ID and HARNESS_BOARD_ID come from the compiler's command line.
#pragma once

#include <cstddef>

namespace harness {

constexpr size_t kBuildIdDigits = 16;

// 16 hex digits; the same inputs give the same id.
extern const char kBuildId[kBuildIdDigits + 1];
extern const char kBoardId[];

}  // namespace harness
