// What every port's linker.ld defines: addresses, or numbers that stand in an address's place.
#pragma once

#include <cstdint>

extern "C" {
extern uint8_t _stack_start[];
extern uint8_t _stack_end[];
extern uint8_t _bss_start[];
extern uint8_t _bss_end[];
extern void (*const _init_array_start[])();
extern void (*const _init_array_end[])();
extern uint8_t _arena_ram_start[];
extern uint8_t _arena_ram_end[];
extern uint8_t _image_start[];
extern const uint8_t _image_size[];
extern uint8_t _model_flash_start[];
extern const uint8_t _model_flash_size[];
}

namespace ports {

// The value of a symbol that stands for a number.
inline uint32_t NumberOf(const uint8_t* symbol) { return static_cast<uint32_t>(reinterpret_cast<uintptr_t>(symbol)); }

}  // namespace ports
