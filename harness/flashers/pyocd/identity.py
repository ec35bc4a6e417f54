"""Identity of chips, and whether they are locked, by reading them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Identity:
    """How to tell a chip and its protection by reading it.

    Attributes:
        idcode_address: of the register whose low 12 bits are the device id.
        device_id: what they must be.
        option_address: of the register whose bits 15 to 8 are the read-out protection.
    """

    idcode_address: int
    device_id: int
    option_address: int


STM32F407 = Identity(idcode_address=0xE004_2000, device_id=0x413, option_address=0x4002_3C14)
"""DBGMCU_IDCODE (RM0090 section 38.6.1) and FLASH_OPTCR (section 3.9.10)."""

IDENTITIES: Mapping[str, Identity] = {"stm32f407xe": STM32F407, "stm32f407xg": STM32F407}
"""By target name. Other targets are pyOCD's own business."""
