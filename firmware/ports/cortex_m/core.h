// What all Cortex-M do in the same way.
#pragma once

namespace cortex_m {

// Resets the chip as if by software, at once.
[[noreturn]] void ResetChip();

}  // namespace cortex_m
