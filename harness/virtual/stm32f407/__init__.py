"""A virtual STM32F407: a Cortex-M4F on Unicorn, with the peripherals that firmware and debug probes need."""
