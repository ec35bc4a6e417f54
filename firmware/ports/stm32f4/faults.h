// Faults of the core become fault frames.
#pragma once

extern "C" void FaultEntry();
extern "C" void SysTickEntry();

namespace stm32f4 {

// Gives each kind of fault its own handler, and makes the null page inaccessible.
void EnableFaults();

}  // namespace stm32f4
