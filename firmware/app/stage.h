// What the firmware is doing, for the frame that a fault sends.
#pragma once

namespace harness {

enum class Stage { kBoot, kIdle, kAllocate, kInput, kInvoke, kScan, kOutput };

// Also tells the watchdog that the firmware is alive.
void EnterStage(Stage stage);
const char* StageName();

}  // namespace harness
