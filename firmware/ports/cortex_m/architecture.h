// What the folder of an architecture version, such as v7_m, must provide, besides platform::Ticks().
#pragma once

extern "C" {

// The handlers of all exceptions and interrupts but reset and SysTick: what comes there becomes a fault frame.
void FaultEntry();
// Asks HangTimerFindsHang(), and makes a fault frame of a hang.
void SysTickEntry();
}

namespace cortex_m {

// Full access to the floating-point unit, where there is one. Must be called before any code that may use it.
void EnableFloatingPoint();

// Gives each kind of fault its own handler, and makes the null page inaccessible, as far as the core can.
void EnableFaults();

// From now on platform::Ticks() counts.
void StartCycleCounter();

}  // namespace cortex_m
