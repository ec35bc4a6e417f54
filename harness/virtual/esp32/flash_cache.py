"""The registers of the PRO CPU's flash cache as the ROM leaves them, and what can be broken about it.

What the firmware's stores to them do is carried out below the firmware: cache.c. Registers: ESP32 Technical Reference
Manual, "DPort Registers". Their start values are an assumption: nothing public says what the ROM leaves in them.
"""

from __future__ import annotations

from enum import IntFlag

from harness.virtual.esp32 import memory_map

START_CTRL = 0x28
"""Switched on, the last flush done."""
START_CTRL1 = 0x8EF
"""Data window (bit 4) open, instruction windows masked."""
_IDLE = 1 << 7
_INVALID = 0x100
_ENTRIES = 128
"""Those of the data window, and those of the first instruction window behind them."""


class CacheFault(IntFlag):
    """What can be broken, by the bits that cache.c knows."""

    DROM_MASKED = 1
    """The data window cannot be unmasked."""
    NEVER_ENABLED = 2
    """It cannot be switched on again."""
    NEVER_FLUSHED = 4
    """A flush never ends."""
    PAGE_OFF = 8
    """Every page shows the one behind its own."""


NO_CACHE_FAULT = CacheFault(0)


def initial_registers(ctrl: int = START_CTRL, ctrl1: int = START_CTRL1) -> dict[int, int]:
    """What the registers hold when the firmware starts, by address. The ROM has mapped the start of the flash."""
    table = {memory_map.MMU_TABLE + 4 * entry: _INVALID for entry in range(_ENTRIES)}
    return {
        **table,
        memory_map.MMU_TABLE: 0,
        memory_map.PRO_CACHE_CTRL: ctrl,
        memory_map.PRO_CACHE_CTRL1: ctrl1,
        memory_map.PRO_DCACHE_DBUG0: _IDLE,
    }
