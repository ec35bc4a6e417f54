// Where things lie in memory: what linker.ld says of it, in the words of platform.h.
#include <cstdint>

#include "app/platform.h"
#include "ports/common/linker_symbols.h"

namespace platform {

Region Stack() { return {_stack_start, static_cast<uint32_t>(_stack_end - _stack_start)}; }

uint8_t* StackPointer() { return static_cast<uint8_t*>(__builtin_frame_address(0)); }

Region ArenaRam() { return {_arena_ram_start, static_cast<uint32_t>(_arena_ram_end - _arena_ram_start)}; }

Region ModelFlash() { return {_model_flash_start, ports::NumberOf(_model_flash_size)}; }

Region FirmwareImage() { return {_image_start, ports::NumberOf(_image_size)}; }

}  // namespace platform
