// From the entry's jump to RunFirmware().
#include "app/platform.h"
#include "ports/common/static_data.h"
#include "ports/esp32/board.h"
#include "ports/esp32/flash_map.h"
#include "ports/esp32/watchdog.h"

extern "C" [[noreturn, gnu::used]] void StartFirmware() {
  esp32::StopBootWatchdogs();  // first of all: the shorter one bites in less than a second
  ports::ZeroStaticData();     // the ROM has copied initialised data to its place already
  esp32::StartBoard();         // with the serial line, for what has to be said if the next step fails
  esp32::MapFlash();
  ports::ConstructStaticObjects();
  harness::RunFirmware();
}
