"""The core's registers: which of Unicorn's numbers they have, and how a debugger selects them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from unicorn import arm_const as arm

GENERAL = tuple(getattr(arm, f"UC_ARM_REG_R{number}") for number in range(13))
SP, LR, PC, XPSR = arm.UC_ARM_REG_SP, arm.UC_ARM_REG_LR, arm.UC_ARM_REG_PC, arm.UC_ARM_REG_XPSR
MSP, PSP, CONTROL = arm.UC_ARM_REG_MSP, arm.UC_ARM_REG_PSP, arm.UC_ARM_REG_CONTROL
PRIMASK, BASEPRI, FAULTMASK = arm.UC_ARM_REG_PRIMASK, arm.UC_ARM_REG_BASEPRI, arm.UC_ARM_REG_FAULTMASK
FPSCR = arm.UC_ARM_REG_FPSCR
FLOATS = tuple(arm.UC_ARM_REG_S0 + number for number in range(32))

CONTROL_SPSEL, CONTROL_FPCA = 1 << 1, 1 << 2
XPSR_EXCEPTION, XPSR_THUMB = 0x1FF, 1 << 24

SELECT_PC, SELECT_SPECIAL = 15, 20
SPECIAL = ((0, PRIMASK), (8, BASEPRI), (16, FAULTMASK), (24, CONTROL))
"""What the selector 20 transfers at once: bit position and register (ARMv7-M section C1.6.4)."""

SELECTED: Mapping[int, int] = MappingProxyType(
    dict(enumerate((*GENERAL, SP, LR, PC, XPSR, MSP, PSP)))
    | {0x21: FPSCR}
    | {0x40 + number: register for number, register in enumerate(FLOATS)}
)
"""By DCRSR's REGSEL field (ARMv7-M section C1.6.3)."""
