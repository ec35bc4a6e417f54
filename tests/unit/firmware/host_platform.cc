// A port of the firmware to this machine: the serial line is stdin and stdout, the model's flash region is a file.
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "app/fault.h"
#include "app/platform.h"

extern "C" const uint8_t _image_size[1] = {0};

namespace {

constexpr uint32_t kRamBytes = 8192;
constexpr uint32_t kStackBytes = 4096;
constexpr uint32_t kStackInUse = 1024;
constexpr uint32_t kModelBytes = 4096;
constexpr uint32_t kImageBytes = 9;
// The watchdog's time is measured in bytes sent, as if the line were slow.
constexpr uint32_t kWatchdogBytes = 2048;

alignas(16) uint8_t ram[kRamBytes];
uint8_t stack[kStackBytes];
uint8_t model_flash[kModelBytes];
uint8_t image[kImageBytes + 1] = "123456789";
uint8_t unit[] = {0xC0, 0xFF, 0xEE};
uint32_t ticks = 0;
uint32_t sent_since_kick = 0;

}  // namespace

namespace platform {

void PutByte(uint8_t byte) {
  putchar(byte);
  if (++sent_since_kick > kWatchdogBytes) {
    fflush(stdout);
    _exit(12);
  }
}

bool GetByte(uint8_t* byte) {
  if (read(STDIN_FILENO, byte, 1) != 1) {
    exit(0);
  }
  return true;
}

uint32_t Ticks() { return ticks += 5; }
uint32_t ClockHz() { return 1000; }
const char* ClockSource() { return "test"; }
const char* ResetReason() { return "power"; }
Region UniqueId() { return {unit, sizeof unit}; }
void KickWatchdog() { sent_since_kick = 0; }
Region Stack() { return {stack, kStackBytes}; }
uint8_t* StackPointer() { return stack + kStackBytes - kStackInUse; }
Region ArenaRam() { return {ram, kRamBytes}; }
Region ModelFlash() { return {model_flash, kModelBytes}; }
Region FirmwareImage() { return {image, kImageBytes}; }
void Reset() { exit(10); }

void Halt() {
  fflush(stdout);
  _exit(11);
}

}  // namespace platform

// What the fake TFLM uses to behave badly.
uint8_t* StackByte(uint32_t depth) { return stack + kStackBytes - depth; }

int main(int count, char** arguments) {
  memset(model_flash, 0xFF, sizeof model_flash);
  if (count > 1) {
    FILE* file = fopen(arguments[1], "rb");
    const size_t size = fread(model_flash, 1, sizeof model_flash, file);
    fclose(file);
    if (size == 0) {
      return 1;
    }
  }
  harness::RunFirmware();
}
