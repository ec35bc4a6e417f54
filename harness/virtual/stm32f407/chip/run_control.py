"""The core under a debugger's hands: halted, running, stepping; and its registers by the debugger's numbers."""

from __future__ import annotations

from collections.abc import Callable

from harness.virtual.stm32f407.chip import registers
from harness.virtual.stm32f407.chip.core import Core
from harness.virtual.stm32f407.chip.exceptions import Exceptions
from harness.virtual.stm32f407.chip.system_control import DFSR_HALTED, SystemControl


class RunControl:
    """Fulfils `debug.RunControl`.

    Args:
        core: the core.
        exceptions: knows of lock-up.
        control: holds DFSR.
        execute_one: executes one instruction.
    """

    def __init__(
        self, core: Core, exceptions: Exceptions, control: SystemControl, execute_one: Callable[[], None]
    ) -> None:
        self._core = core
        self._exceptions = exceptions
        self._control = control
        self._execute_one = execute_one
        self.halted = False
        self.sleeping = False
        self.in_instruction = False

    @property
    def locked_up(self) -> bool:
        """Whether the core stands still after a fault in a fault handler."""
        return self._exceptions.locked_up

    def halt(self) -> None:
        """Enter debug state at a debugger's wish."""
        if not self.halted:
            self.halt_for(DFSR_HALTED)

    def halt_for(self, reason: int) -> None:
        """Enter debug state.

        Args:
            reason: bit of DFSR.
        """
        self.halted = True
        self.sleeping = False
        self._exceptions.locked_up = False
        self._control.debug_fault_status |= reason

    def resume(self) -> None:
        """Leave debug state."""
        self.halted = False

    def step(self) -> None:
        """Execute one instruction and stay in debug state."""
        self._execute_one()
        self.halt_for(DFSR_HALTED)

    def read_selected(self, selector: int) -> int:
        """A core register by DCRSR's numbers; 0 for a number that is none."""
        if selector == registers.SELECT_PC:
            return self._core.pc
        if selector == registers.SELECT_SPECIAL:
            return sum((self._core.read(register) & 0xFF) << shift for shift, register in registers.SPECIAL)
        register = registers.SELECTED.get(selector)
        return self._core.read(register) if register is not None else 0

    def write_selected(self, selector: int, value: int) -> None:
        """Set a core register by DCRSR's numbers."""
        if selector == registers.SELECT_PC:
            self._core.pc = value & ~1
        elif selector == registers.SELECT_SPECIAL:
            for shift, register in registers.SPECIAL:
                self._core.write(register, value >> shift & 0xFF)
        elif selector in registers.SELECTED:
            self._core.write(registers.SELECTED[selector], value)
