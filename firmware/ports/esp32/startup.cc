// From the entry's jump to RunFirmware().
#include "app/platform.h"
#include "ports/common/static_data.h"
#include "ports/esp32/board.h"
#include "ports/esp32/watchdog.h"

extern "C" [[noreturn, gnu::used]] void StartFirmware() {
  esp32::StopBootWatchdogs();     // first of all: the shorter one bites in less than a second
  ports::InitialiseStaticData();  // the ROM has copied initialised data to its place already
  esp32::StartBoard();
  harness::RunFirmware();
}
