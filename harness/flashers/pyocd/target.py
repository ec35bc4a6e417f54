"""The STM32F407 for pyOCD, which knows it from CMSIS packs only.

Flash sectors: RM0090 table 5. CCM and SRAM: RM0090 section 2.3. The flash algorithm is the STM32F412's, which pyOCD
carries: it has the same flash interface.

The plug-in imports this while pyOCD loads it; importing it before pyOCD itself would go round in a circle.
"""

from __future__ import annotations

from typing import Any

from pyocd.core.memory_map import FlashRegion, MemoryMap, RamRegion
from pyocd.coresight.coresight_target import CoreSightTarget
from pyocd.target import TARGET
from pyocd.target.builtin.target_STM32F412xx import FLASH_ALGO

_KB = 1024
_FLASH_START = 0x0800_0000
_DBGMCU_CR = 0xE004_2004
_DBGMCU_APB1_FZ = 0xE004_2008
_DEBUG_IN_LOW_POWER = 0x7
"""Sleep, stop and standby keep the debug logic clocked (RM0090 section 38.16.3)."""
_WATCHDOGS_STOP_IN_HALT = 0x1800
"""Both watchdogs stand still while the core is halted (RM0090 section 38.16.4)."""


def register() -> None:
    """Make the targets known to this process's pyOCD."""
    TARGET.update({"stm32f407xe": Stm32F407xE, "stm32f407xg": Stm32F407xG})


class Stm32F407xE(CoreSightTarget):  # type: ignore[misc]  # pyOCD comes without type hints
    """STM32F407 with 512 KB of flash: F407VE, F407ZE, F407IE."""

    VENDOR = "STMicroelectronics"
    PART_NUMBER = "STM32F407xE"

    def __init__(self, session: Any) -> None:  # noqa: ANN401  # pyOCD comes without type hints
        super().__init__(session, _memory_map(512 * _KB))

    def post_connect_hook(self) -> None:
        """Called by pyOCD when it has connected."""
        _keep_debugging(self)


class Stm32F407xG(CoreSightTarget):  # type: ignore[misc]  # pyOCD comes without type hints
    """STM32F407 with 1 MB of flash: F407VG, F407ZG, F407IG."""

    VENDOR = "STMicroelectronics"
    PART_NUMBER = "STM32F407xG"

    def __init__(self, session: Any) -> None:  # noqa: ANN401  # pyOCD comes without type hints
        super().__init__(session, _memory_map(1024 * _KB))

    def post_connect_hook(self) -> None:
        """Called by pyOCD when it has connected."""
        _keep_debugging(self)


def _memory_map(flash_bytes: int) -> Any:  # noqa: ANN401  # pyOCD comes without type hints
    """Four sectors of 16 KB, one of 64 KB, the rest of 128 KB; two RAMs."""
    return MemoryMap(
        _flash(0, 64 * _KB, sector_bytes=16 * _KB, is_boot_memory=True),
        _flash(64 * _KB, 64 * _KB, sector_bytes=64 * _KB),
        _flash(128 * _KB, flash_bytes - 128 * _KB, sector_bytes=128 * _KB),
        RamRegion(name="sram", start=0x2000_0000, length=128 * _KB),
        RamRegion(name="ccm", start=0x1000_0000, length=64 * _KB, is_default=False),
    )


def _flash(offset: int, size_bytes: int, sector_bytes: int, is_boot_memory: bool = False) -> Any:  # noqa: ANN401  # ditto
    return FlashRegion(
        start=_FLASH_START + offset,
        length=size_bytes,
        sector_size=sector_bytes,
        page_size=4 * _KB,
        algo=FLASH_ALGO,
        is_boot_memory=is_boot_memory,
    )


def _keep_debugging(target: Any) -> None:  # noqa: ANN401  # pyOCD comes without type hints
    target.write32(_DBGMCU_CR, _DEBUG_IN_LOW_POWER)
    target.write32(_DBGMCU_APB1_FZ, _WATCHDOGS_STOP_IN_HALT)
