"""Exception entry and return (ARMv7-M sections B1.5.6 to B1.5.8), which Unicorn leaves to its user."""

from __future__ import annotations

import struct

from harness.virtual.stm32f407.chip import faultstatus, registers
from harness.virtual.stm32f407.chip.core import Core
from harness.virtual.stm32f407.chip.faultstatus import Fault
from harness.virtual.stm32f407.chip.interrupts import Interrupts
from harness.virtual.stm32f407.chip.memory import Memory
from harness.virtual.stm32f407.chip.system_control import SystemControl

_BASIC_FRAME_BYTES, _EXTENDED_FRAME_BYTES = 0x20, 0x68
_ALIGNER = 1 << 9
"""Bit of the stacked xPSR: the frame was moved down by 4 bytes to be 8-byte aligned."""
_STACKED_FLOATS = registers.FLOATS[:16]
_STACKED = (*registers.GENERAL[:4], registers.GENERAL[12], registers.LR)
_RETURN_FRAME_IS_BASIC, _RETURN_TO_THREAD, _RETURN_TO_PSP = 1 << 4, 1 << 3, 1 << 2
_VALID_RETURNS = (0xFFFFFFE1, 0xFFFFFFE9, 0xFFFFFFED, 0xFFFFFFF1, 0xFFFFFFF9, 0xFFFFFFFD)
_LOCKUP_PRIORITY = -1
_FAULTS = (faultstatus.MEM_MANAGE, faultstatus.BUS_FAULT, faultstatus.USAGE_FAULT)


class Exceptions:
    """Takes exceptions and returns from them.

    Args:
        core: whose registers are stacked.
        memory: where stacks and vector tables are.
        interrupts: what is pending and active.
        control: fault status and enable bits.
    """

    def __init__(self, core: Core, memory: Memory, interrupts: Interrupts, control: SystemControl) -> None:
        self._core = core
        self._memory = memory
        self._interrupts = interrupts
        self._control = control
        self.reset()

    def reset(self) -> None:
        """As after a system reset."""
        self.locked_up = False
        self.taken: int | None = None
        """The exception that was entered last, until `forget_taken`: for the debugger's vector catch."""

    def execution_priority(self) -> int:
        """The priority that an exception must be more urgent than to be taken now (ARMv7-M section B1.5.4)."""
        priority = self._interrupts.running_priority()
        base = self._core.read(registers.BASEPRI)
        if base:
            priority = min(priority, base)
        if self._core.read(registers.PRIMASK) & 1:
            priority = min(priority, 0)
        if self._core.read(registers.FAULTMASK) & 1:
            priority = min(priority, -1)
        return priority

    def take_pending(self) -> bool:
        """Enter the most urgent pending exception, if it may be taken now."""
        exception = self._interrupts.next()
        if exception is None or self._interrupts.priority(exception) >= self.execution_priority():
            return False
        self._interrupts.pending.discard(exception)
        self._enter(exception)
        return True

    def wakes_up(self) -> bool:
        """Whether a pending exception ends a WFI: as if PRIMASK were clear."""
        exception = self._interrupts.next()
        return exception is not None and self._interrupts.priority(exception) < self._interrupts.running_priority()

    def raise_fault(self, fault: Fault) -> None:
        """Take the exception for a fault, or HardFault in its place, or lock up."""
        self._control.record(fault)
        if self._can_take(fault.exception):
            self._enter(fault.exception)
        else:
            self._escalate(faultstatus.FORCED)

    def raise_debug_event(self) -> None:
        """Take the HardFault that a breakpoint instruction is without a debugger."""
        self._escalate(faultstatus.DEBUGEVT)

    def call_supervisor(self) -> None:
        """Take the SVC exception."""
        if self._interrupts.priority(faultstatus.SUPERVISOR_CALL) < self.execution_priority():
            self._enter(faultstatus.SUPERVISOR_CALL)
        else:
            self._escalate(faultstatus.FORCED)

    def leave(self) -> None:
        """Return from the exception whose EXC_RETURN value has been loaded into the pc."""
        code = self._core.pc | 1
        if not self._interrupts.active or code not in _VALID_RETURNS:
            self.raise_fault(Fault(faultstatus.USAGE_FAULT, faultstatus.INVPC))
            return
        left = self._interrupts.active.pop()
        if left != faultstatus.NMI:
            self._core.write(registers.FAULTMASK, 0)
        self._unstack(code)

    def _can_take(self, exception: int) -> bool:
        """Whether a fault's own handler can be entered."""
        urgent = self._interrupts.priority(exception) < self.execution_priority()
        return urgent and self._control.enabled(exception)

    def _escalate(self, status: int) -> None:
        """HardFault; where that cannot be taken either, the core stands still until reset (section B1.5.15)."""
        if self.execution_priority() <= _LOCKUP_PRIORITY:
            self.locked_up = True
            return
        self._control.record_hard_fault(status)
        self._enter(faultstatus.HARD_FAULT)

    def _enter(self, exception: int) -> None:
        exc_return = self._exc_return()
        exception = self._stack(exception)
        vector = self._vector(exception)
        if vector is None:
            self._control.record_hard_fault(faultstatus.VECTTBL)
            self.locked_up = exception == faultstatus.HARD_FAULT
            exception, vector = faultstatus.HARD_FAULT, self._vector(faultstatus.HARD_FAULT)
        if vector is None or self.locked_up:
            self.locked_up = True
            return
        self._interrupts.active.append(exception)
        self._core.write(registers.LR, exc_return)
        self._core.write(registers.XPSR, (registers.XPSR_THUMB if vector & 1 else 0) | exception)
        self._core.write(registers.CONTROL, self._core.read(registers.CONTROL) & 1)
        self._core.pc = vector & ~1
        self.taken = exception

    def _exc_return(self) -> int:
        """What the link register holds in the handler."""
        control = self._core.read(registers.CONTROL)
        code = 0xFFFFFFE1 if control & registers.CONTROL_FPCA else 0xFFFFFFF1
        if self._core.read(registers.XPSR) & registers.XPSR_EXCEPTION:
            return code
        return code | _RETURN_TO_THREAD | (_RETURN_TO_PSP if control & registers.CONTROL_SPSEL else 0)

    def _stack(self, exception: int) -> int:
        """Push the frame.

        Returns:
            The exception to enter: another one when the frame could not be written (section B1.5.12).
        """
        core = self._core
        extended = bool(core.read(registers.CONTROL) & registers.CONTROL_FPCA)
        top = core.read(registers.SP)
        sp = (top - (_EXTENDED_FRAME_BYTES if extended else _BASIC_FRAME_BYTES)) & ~7 & 0xFFFFFFFF
        xpsr = core.read(registers.XPSR) & ~_ALIGNER | (_ALIGNER if top & 4 else 0)
        words = [*(core.read(register) for register in _STACKED), core.pc, xpsr]
        if extended:
            words += [*(core.read(register) for register in _STACKED_FLOATS), core.read(registers.FPSCR), 0]
        core.write(registers.SP, sp)
        if self._write(sp, words):
            return exception
        return self._after_stacking_error(exception)

    def _after_stacking_error(self, exception: int) -> int:
        """Which exception comes first: the one about to be entered, or the one for its failed frame."""
        self._control.record(Fault(faultstatus.BUS_FAULT, faultstatus.STKERR))
        derived = faultstatus.BUS_FAULT if self._can_take(faultstatus.BUS_FAULT) else faultstatus.HARD_FAULT
        if self._interrupts.priority(exception) <= self._interrupts.priority(derived):
            return exception
        if derived == faultstatus.HARD_FAULT:
            self._control.record_hard_fault(faultstatus.FORCED)
        if exception not in _FAULTS:
            self._interrupts.pending.add(exception)
        return derived

    def _unstack(self, code: int) -> None:
        """Pop the frame and continue where it says."""
        core = self._core
        extended = not code & _RETURN_FRAME_IS_BASIC
        stack = registers.PSP if code & _RETURN_TO_PSP else registers.MSP
        sp = core.read(stack)
        words = self._read(sp, (_EXTENDED_FRAME_BYTES if extended else _BASIC_FRAME_BYTES) // 4)
        if words is None:
            self.raise_fault(Fault(faultstatus.BUS_FAULT, faultstatus.UNSTKERR))
            return
        xpsr = words[7]
        sp += 4 * len(words) + (4 if xpsr & _ALIGNER else 0)
        core.write(registers.XPSR, xpsr & ~_ALIGNER)
        selected = registers.CONTROL_SPSEL if code & _RETURN_TO_PSP else 0
        control = core.read(registers.CONTROL) & 1 | selected | (registers.CONTROL_FPCA if extended else 0)
        for register, value in zip(_STACKED, words, strict=False):
            core.write(register, value)
        if extended:
            self._restore_floats(words)
        core.write(registers.CONTROL, control)
        core.write(stack, sp)
        core.pc = words[6] & ~1

    def _restore_floats(self, words: tuple[int, ...]) -> None:
        for register, value in zip(_STACKED_FLOATS, words[8:], strict=False):
            self._core.write(register, value)
        self._core.write(registers.FPSCR, words[24])

    def _vector(self, exception: int) -> int | None:
        words = self._read(self._control.vector_table + 4 * exception, 1)
        return words[0] if words else None

    def _write(self, address: int, words: list[int]) -> bool:
        found = self._memory.find(address, 4 * len(words))
        if found is None or not found[0].writable:
            return False
        region, offset = found
        region.data[offset : offset + 4 * len(words)] = struct.pack(f"<{len(words)}I", *words)
        return True

    def _read(self, address: int, count: int) -> tuple[int, ...] | None:
        found = self._memory.find(address, 4 * count)
        if found is None:
            return None
        region, offset = found
        return struct.unpack_from(f"<{count}I", region.data, offset)
