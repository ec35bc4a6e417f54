"""The STM32F4: a Cortex-M4."""

from __future__ import annotations

from harness.domain.board import MemoryRegion
from harness.families.cortex_m import CortexM

_UNIQUE_ID = MemoryRegion(0x1FFF_7A10, 12)
"""RM0090 section 39.1."""


def family() -> CortexM:
    """The plug-in."""
    return CortexM(unit_id=_UNIQUE_ID)
