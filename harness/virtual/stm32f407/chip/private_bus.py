"""The core's own registers, and where they are (ARMv7-M section B3.1)."""

from __future__ import annotations

from harness.virtual.stm32f407.chip import coresight
from harness.virtual.stm32f407.chip.bus import Bus, HoldingRegisters
from harness.virtual.stm32f407.chip.core import Core
from harness.virtual.stm32f407.chip.debug import BreakpointUnit, Debug, RunControl
from harness.virtual.stm32f407.chip.interrupts import Interrupts
from harness.virtual.stm32f407.chip.system_control import SystemControl
from harness.virtual.stm32f407.chip.timers import SysTick

_FREEZE_WATCHDOG = 1 << 12
"""DBG_IWDG_STOP in DBGMCU_APB1_FZ."""


class PrivateBus:
    """SysTick, interrupt controller, system control, debug and trace.

    Args:
        core: for emulated time, breakpoints, and to end slices.
        bus: what they are attached to.
        interrupts: the exceptions' state.
        control: the system control block.
        target: what the debug registers do to the core.
    """

    def __init__(
        self, core: Core, bus: Bus, interrupts: Interrupts, control: SystemControl, target: RunControl
    ) -> None:
        self.debug = Debug(target)
        self.systick = SysTick(core.time, core.stop)
        self._breakpoints = BreakpointUnit(core.set_breakpoints)
        self._watchpoints = coresight.Watchpoints(core.time, lambda: self.debug.trace_enabled)
        self._device_debug = coresight.attach(bus)
        self._others = HoldingRegisters({0x04: 2, 0xF40: 0x10110021, 0xF44: 0x11000011})  # ICTR, MVFR0, MVFR1
        bus.attach(0xE000E010, 0x10, self.systick)
        bus.attach(0xE000E100, 0x400, interrupts)
        bus.attach(0xE000ED00, 0x8C, control)
        bus.attach(0xE000EDF0, 0x10, self.debug)
        bus.attach(coresight.SCS, 0x1000, self._others)
        bus.attach(coresight.FPB, 0x1000, self._breakpoints)
        bus.attach(coresight.DWT, 0x1000, self._watchpoints)
        bus.attach(coresight.ITM, 0x1000, coresight.TraceMacrocell())
        bus.attach(coresight.TPIU, 0x1000, HoldingRegisters())

    def reset(self) -> None:
        """As after a system reset; the debug logic only remembers that there was one."""
        self.systick.reset()
        self._others.reset()
        self.debug.note_reset()

    def power_on(self) -> None:
        """As after a power-on reset."""
        self.debug.power_on()
        self._breakpoints.power_on()
        self._watchpoints.reset()
        self._device_debug.reset()

    def watchdog_frozen(self) -> bool:
        """Whether the watchdog stands still while the core is halted."""
        return bool(self._device_debug.read(coresight.FREEZE_APB1) & _FREEZE_WATCHDOG)
