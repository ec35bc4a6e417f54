"""Fault exceptions and their status bits (ARMv7-M Architecture Reference Manual, sections B1.5 and B3.2.15)."""

from __future__ import annotations

from dataclasses import dataclass

NMI, HARD_FAULT, MEM_MANAGE, BUS_FAULT, USAGE_FAULT = 2, 3, 4, 5, 6
SUPERVISOR_CALL, PEND_SV, SYS_TICK = 11, 14, 15

IACCVIOL, MMARVALID = 1 << 0, 1 << 7
IBUSERR, PRECISERR, UNSTKERR, STKERR, BFARVALID = 1 << 8, 1 << 9, 1 << 11, 1 << 12, 1 << 15
UNDEFINSTR, INVSTATE, INVPC, NOCP = 1 << 16, 1 << 17, 1 << 18, 1 << 19
"""Bits of CFSR."""

VECTTBL, FORCED, DEBUGEVT = 1 << 1, 1 << 30, 1 << 31
"""Bits of HFSR."""


@dataclass(frozen=True)
class Fault:
    """Why an instruction could not be executed.

    Attributes:
        exception: the fault exception that is for it: MemManage, BusFault or UsageFault.
        status: bits to set in CFSR.
        address: the data address, when CFSR says that MMFAR or BFAR is valid.
        pc: the instruction, where the core's own pc does not tell.
    """

    exception: int
    status: int
    address: int | None = None
    pc: int | None = None


def data_bus_fault(address: int, pc: int | None = None) -> Fault:
    """A load or store that the bus refused."""
    return Fault(BUS_FAULT, PRECISERR | BFARVALID, address, pc)
