"""The machines that can be emulated: the one list of them, from which every other place takes its names.

Nothing here imports an emulator.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True)
class Emulation:
    """How a machine is emulated.

    Attributes:
        board_module: has `power_up`, which makes a board; imported by the board's own process alone.
        package: whose emulator it needs, as package indexes call it.
        debug_target: what pyOCD calls the chip behind its debug port; None: it has no debug port.
    """

    board_module: str
    package: str
    debug_target: str | None = None


MACHINES: Mapping[str, Emulation] = MappingProxyType(
    {
        "stm32f407": Emulation("harness.virtual.stm32f407.board", "unicorn", "stm32f407xg"),
        "esp32": Emulation("harness.virtual.esp32.board", "esp32-mock-bootloader"),
    }
)
"""By the name that board files and `harness virtual start` give them."""
