"""The system control block at 0xE000ED00 (ARMv7-M section B3.2)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from harness.virtual.stm32f407.chip import faultstatus
from harness.virtual.stm32f407.chip.faultstatus import Fault
from harness.virtual.stm32f407.chip.interrupts import Interrupts

ICSR, VTOR, AIRCR, SCR, CCR, SHPR1, SHPR3, SHCSR = 0x04, 0x08, 0x0C, 0x10, 0x14, 0x18, 0x20, 0x24
CFSR, HFSR, DFSR, MMFAR, BFAR = 0x28, 0x2C, 0x30, 0x34, 0x38

DFSR_HALTED, DFSR_BKPT, DFSR_VCATCH = 1 << 0, 1 << 1, 1 << 3
_NMIPENDSET, _PENDSVSET, _PENDSVCLR, _PENDSTSET, _PENDSTCLR = 1 << 31, 1 << 28, 1 << 27, 1 << 26, 1 << 25
_RETTOBASE = 1 << 11
_VECTKEY, _VECTKEY_READ = 0x05FA, 0xFA05
_SYSRESETREQ, _PRIGROUP = 1 << 2, 0x700
_STKALIGN = 1 << 9
_ENABLE_BITS: Mapping[int, int] = MappingProxyType(
    {faultstatus.MEM_MANAGE: 1 << 16, faultstatus.BUS_FAULT: 1 << 17, faultstatus.USAGE_FAULT: 1 << 18}
)
_CONSTANTS: Mapping[int, int] = MappingProxyType(
    {
        0x00: 0x410FC241,  # CPUID: Cortex-M4 r0p1
        0x40: 0x00000030,  # ID_PFR0
        0x44: 0x00000200,  # ID_PFR1
        0x48: 0x00100000,  # ID_DFR0
        0x50: 0x00000030,  # ID_MMFR0
        0x58: 0x01000000,  # ID_MMFR2
        0x60: 0x01101110,  # ID_ISAR0
        0x64: 0x02112000,  # ID_ISAR1
        0x68: 0x21232231,  # ID_ISAR2
        0x6C: 0x01111131,  # ID_ISAR3
        0x70: 0x01310132,  # ID_ISAR4
    }
)


class SystemControl:
    """Vector table, faults, system exceptions, reset request.

    Args:
        interrupts: the exceptions' state.
        request_reset: called when software or a debugger asks for a system reset.
        pended: called when an exception was made pending.
    """

    def __init__(self, interrupts: Interrupts, request_reset: Callable[[], None], pended: Callable[[], None]) -> None:
        self._interrupts = interrupts
        self._request_reset = request_reset
        self._pended = pended
        self.debug_fault_status = 0
        self.reset()

    def reset(self) -> None:
        """As after a system reset. DFSR belongs to the debug logic and stays."""
        self._values = {CCR: _STKALIGN}

    def power_on(self) -> None:
        """As after a power-on reset."""
        self.debug_fault_status = 0
        self.reset()

    @property
    def vector_table(self) -> int:
        """Where the vector table is."""
        return self._values.get(VTOR, 0)

    def enabled(self, exception: int) -> bool:
        """Whether a configurable fault goes to its own handler."""
        return bool(self._values.get(SHCSR, 0) & _ENABLE_BITS[exception])

    def record(self, fault: Fault) -> None:
        """Set the status and address registers for a fault."""
        self._values[CFSR] = self._values.get(CFSR, 0) | fault.status
        if fault.address is not None:
            self._values[BFAR if fault.status & faultstatus.BFARVALID else MMFAR] = fault.address

    def record_hard_fault(self, status: int) -> None:
        """Set bits of HFSR."""
        self._values[HFSR] = self._values.get(HFSR, 0) | status

    def read(self, offset: int) -> int:
        """A register."""
        if offset == ICSR:
            return self._interrupt_state()
        if offset == AIRCR:
            return _VECTKEY_READ << 16 | self._values.get(AIRCR, 0)
        if SHPR1 <= offset <= SHPR3:
            return self._interrupts.priority_word(4 + offset - SHPR1)
        if offset == SHCSR:
            return self._values.get(SHCSR, 0) | self._active_bits()
        if offset == DFSR:
            return self.debug_fault_status
        return _CONSTANTS.get(offset, self._values.get(offset, 0))

    def write(self, offset: int, value: int, mask: int) -> None:
        """A register."""
        if offset == ICSR:
            self._pend(value)
        elif offset == AIRCR:
            self._control_reset(value)
        elif SHPR1 <= offset <= SHPR3:
            self._interrupts.set_priority_word(4 + offset - SHPR1, value, mask)
        elif offset in (CFSR, HFSR):
            self._values[offset] = self._values.get(offset, 0) & ~value
        elif offset == DFSR:
            self.debug_fault_status &= ~value
        elif offset == SHCSR:
            self._values[SHCSR] = value & sum(_ENABLE_BITS.values())
        elif offset not in _CONSTANTS:
            self._values[offset] = self._values.get(offset, 0) & ~mask | value

    def _interrupt_state(self) -> int:
        interrupts = self._interrupts
        active = interrupts.active
        state = (active[-1] if active else 0) | (interrupts.next() or 0) << 12
        state |= _RETTOBASE if len(active) == 1 else 0
        for exception, bit in ((2, _NMIPENDSET), (14, _PENDSVSET), (15, _PENDSTSET)):
            state |= bit if exception in interrupts.pending else 0
        return state

    def _active_bits(self) -> int:
        """SHCSR's view of which system exceptions are active."""
        bits = {4: 0, 5: 1, 6: 3, 11: 7, 14: 10, 15: 11}
        return sum(1 << bits[exception] for exception in set(self._interrupts.active) & set(bits))

    def _pend(self, value: int) -> None:
        pending = self._interrupts.pending
        for exception, bit in ((2, _NMIPENDSET), (14, _PENDSVSET), (15, _PENDSTSET)):
            if value & bit:
                pending.add(exception)
        for exception, bit in ((14, _PENDSVCLR), (15, _PENDSTCLR)):
            if value & bit:
                pending.discard(exception)
        self._pended()

    def _control_reset(self, value: int) -> None:
        if value >> 16 != _VECTKEY:
            return
        self._values[AIRCR] = value & _PRIGROUP
        if value & _SYSRESETREQ:
            self._request_reset()
