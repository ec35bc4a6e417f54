// From the entry's jump to RunFirmware().
#include <cstddef>
#include <cstring>

#include "app/platform.h"
#include "ports/esp32/board.h"
#include "ports/esp32/linker_symbols.h"
#include "ports/esp32/watchdog.h"

namespace esp32 {
namespace {

// The ROM has copied initialised data to its place already.
void InitialiseStaticData() {
  memset(_bss_start, 0, static_cast<size_t>(_bss_end - _bss_start));
  for (void (*const* initialiser)() = _init_array_start; initialiser < _init_array_end; ++initialiser) {
    (*initialiser)();
  }
}

}  // namespace
}  // namespace esp32

extern "C" [[noreturn, gnu::used]] void StartFirmware() {
  esp32::StopBootWatchdogs();  // first of all: the shorter one bites in less than a second
  esp32::InitialiseStaticData();
  esp32::StartBoard();
  harness::RunFirmware();
}
