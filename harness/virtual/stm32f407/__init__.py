"""A virtual STM32F407: a Cortex-M4F on Unicorn, with the peripherals that firmware and debug probes need.

`chip` is the silicon, `probe` the debug probe in front of it; here lies what joins them into a board: serial line,
control commands, debug service and the loop of its process.
"""
