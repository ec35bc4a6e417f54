"""A whole board, put together: the chip, its serial line, what is broken about it, and the loop of its process."""

from __future__ import annotations

from pathlib import Path

from harness.virtual.flash_array import open_flash
from harness.virtual.stm32f407.chip.machine import Machine
from harness.virtual.stm32f407.chip.memory import FLASH_BYTES
from harness.virtual.stm32f407.event_loop import EventLoop
from harness.virtual.stm32f407.faults import Faults
from harness.virtual.stm32f407.serial_line import SerialLine


def power_up(name: str, flash_file: Path | None, link_path: Path) -> EventLoop:
    """A board that is powered up: see `harness.virtual.server.PowerUp`."""
    faults = Faults()
    line = SerialLine(faults)
    machine = Machine(name, open_flash(flash_file, FLASH_BYTES), line, faults)
    return EventLoop(machine, line, faults, link_path)
