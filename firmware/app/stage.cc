#include "app/stage.h"

#include "app/platform.h"

namespace harness {
namespace {

Stage current = Stage::kBoot;

}  // namespace

void EnterStage(Stage stage) {
  current = stage;
  platform::KickWatchdog();
}

const char* StageName() {
  switch (current) {
    case Stage::kBoot:
      return "boot";
    case Stage::kIdle:
      return "idle";
    case Stage::kAllocate:
      return "allocate";
    case Stage::kInput:
      return "input";
    case Stage::kInvoke:
      return "invoke";
    case Stage::kScan:
      return "scan";
    case Stage::kOutput:
      return "output";
  }
  return "unknown";
}

}  // namespace harness
