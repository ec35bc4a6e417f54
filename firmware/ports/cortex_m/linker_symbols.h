// What the linker script of a Cortex-M defines besides.
#pragma once

#include <cstdint>

#include "ports/common/linker_symbols.h"

extern "C" {
extern uint8_t _handler_stack_end[];
extern uint8_t _data_start[];
extern uint8_t _data_end[];
extern const uint8_t _data_load[];
}
