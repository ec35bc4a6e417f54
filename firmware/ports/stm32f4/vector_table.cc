#include "ports/cortex_m/vector_table.h"

namespace stm32f4 {
namespace {

// RM0090 table 61.
constexpr size_t kInterrupts = 82;

[[gnu::section(".vectors"), gnu::used]] constexpr auto kVectorTable = cortex_m::MakeVectorTable<kInterrupts>();

}  // namespace
}  // namespace stm32f4
