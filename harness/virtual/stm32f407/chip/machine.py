"""The whole STM32F407: its parts, wired together, and what happens between two slices of instructions.

Everything runs in one thread. The owner calls `run` while `idle_s` is zero; otherwise it may sleep that long, or until
something arrives for the board, and then tells by `elapse` how much time has passed.
"""

from __future__ import annotations

import mmap

from harness.virtual.stm32f407.chip import registers
from harness.virtual.stm32f407.chip.access import DebugAccess
from harness.virtual.stm32f407.chip.bus import Bus
from harness.virtual.stm32f407.chip.clocks import ResetCause
from harness.virtual.stm32f407.chip.core import Core, Stop, Why
from harness.virtual.stm32f407.chip.exceptions import Exceptions
from harness.virtual.stm32f407.chip.faultstatus import SYS_TICK
from harness.virtual.stm32f407.chip.flash_controller import FlashController
from harness.virtual.stm32f407.chip.interrupts import FIRST_INTERRUPT, Interrupts
from harness.virtual.stm32f407.chip.memory import Memory
from harness.virtual.stm32f407.chip.peripherals import Peripherals
from harness.virtual.stm32f407.chip.private_bus import PrivateBus
from harness.virtual.stm32f407.chip.run_control import RunControl
from harness.virtual.stm32f407.chip.system_control import DFSR_BKPT, DFSR_VCATCH, SystemControl
from harness.virtual.stm32f407.chip.usart import INTERRUPT
from harness.virtual.stm32f407.faults import Faults
from harness.virtual.stm32f407.serial_line import SerialLine

_LONGEST_SLEEP_S = 0.02
_HALTED_SLEEP_S = 0.1
_SHORTEST_SLICE = 2
"""The engine translates slices of one instruction in another way, which then must be forgotten."""


class Machine:
    """One virtual STM32F407 board, powered up.

    Args:
        name: from which its unique device id is made.
        flash: the flash array.
        line: what USART2 is connected to.
        faults: what is broken.
    """

    def __init__(self, name: str, flash: mmap.mmap, line: SerialLine, faults: Faults) -> None:
        bus = Bus()
        self._memory = Memory(flash, name)
        self._faults = faults.device
        self._since_reset_s = 0.0
        self._reset_wanted: ResetCause | None = None
        self._power_cycles = 0
        self.reset_asserted = False
        self._interrupts = Interrupts()
        self._core = Core(self._memory, bus, self._program)
        self._flash = FlashController(flash, faults.flash, self._debugger_attached, self._core.forget_code)
        self._control = SystemControl(self._interrupts, self._request_reset, self._core.stop)
        self._exceptions = Exceptions(self._core, self._memory, self._interrupts, self._control)
        self._run_control = RunControl(self._core, self._exceptions, self._control, self._execute_one)
        self._private = PrivateBus(self._core, bus, self._interrupts, self._control, self._run_control)
        self._peripherals = Peripherals(self._core, bus, self._flash, line, faults)
        self._access = DebugAccess(self._memory, bus, self._flash, self._core.forget_code)
        self.powered = False
        self.set_power(True)

    @property
    def flash(self) -> FlashController:
        """The flash interface, whose option bytes can be set from outside."""
        return self._flash

    def read_memory(self, address: int, size_bytes: int, width_bytes: int) -> bytes:
        """Read as a debugger.

        Raises:
            BusError: nothing answers there.
        """
        return self._access.read(address, size_bytes, width_bytes)

    def write_memory(self, address: int, data: bytes, width_bytes: int) -> None:
        """Write as a debugger.

        Raises:
            BusError: nothing answers there.
        """
        self._access.write(address, data, width_bytes)
        self._apply_reset()

    def set_power(self, on: bool) -> None:
        """Plug the board in, or cut its power: all but the flash is lost."""
        if on and not self.powered:
            self._power_cycles += 1
            self._memory.lose_power(self._power_cycles)
            self._control.power_on()
            self._private.power_on()
            self._run_control.halted = False
            self._reset(ResetCause.POWER)
        self.powered = on

    def set_reset(self, asserted: bool) -> None:
        """Pull the nRST pin low, or let it go."""
        if self.reset_asserted and not asserted:
            self._reset(ResetCause.PIN)
        self.reset_asserted = asserted

    def idle_s(self) -> float:
        """How long nothing will happen by itself, in seconds of real time; 0 while the core has work."""
        if not self.powered or self.reset_asserted:
            return _HALTED_SLEEP_S
        if self._run_control.halted or self._exceptions.locked_up or self._faults.hanging:
            return min(_HALTED_SLEEP_S, self._watchdog_s())
        if not self._run_control.sleeping and not self._peripherals.usart.waiting:
            return 0.0
        return min(_LONGEST_SLEEP_S, self._cycles_to_event() / self._peripherals.clocks.core_hz())

    def elapse(self, seconds: float) -> None:
        """Let the board's time go on without instructions, after its owner has slept."""
        if not self.powered or self.reset_asserted:
            return
        if self._run_control.halted:
            if not self._private.watchdog_frozen():
                self._let_watchdog_count(seconds)
        else:
            self._core.time.skip(int(seconds * self._peripherals.clocks.core_hz()))
            self._catch_up(seconds)
            self._peripherals.usart.rest()
        self._apply_reset()

    @property
    def cycles(self) -> int:
        """Cycles of the core so far, resets and power cuts included."""
        return self._core.time.now()

    def receive(self) -> bytes:
        """Take in what has arrived on the serial line, and tell it."""
        return self._peripherals.usart.deliver()

    def run(self, limit: int) -> None:
        """Execute at most `limit` instructions, unless the core rests."""
        if self.idle_s():
            return
        if self._exceptions.take_pending() and self._caught():
            return
        self._run_slice(max(_SHORTEST_SLICE, min(limit, self._cycles_to_event())))
        self._peripherals.usart.flush()

    def state(self) -> dict[str, object]:
        """The board's state, for people and tests: JSON values only."""
        return {
            "powered": self.powered,
            "halted": self._run_control.halted,
            "locked_up": self._exceptions.locked_up,
            "sleeping": self._run_control.sleeping,
            "waiting_for_serial": self._peripherals.usart.waiting,
            "pc": self._core.pc,
            "cycles": self._core.time.now(),
            "core_hz": self._peripherals.clocks.core_hz(),
            "baud": self._peripherals.usart.baud(),
            "protection_level": self._flash.protection_level,
            "active_exceptions": list(self._interrupts.active),
        }

    def _run_slice(self, limit: int) -> None:
        self._core.set_flash_readable(not self._flash.blocked)
        before = self._core.time.now()
        self._run_control.in_instruction = True
        stop = self._core.run(limit)
        self._run_control.in_instruction = False
        self._flash.settle()
        self._respond(stop)
        self._catch_up((self._core.time.now() - before) / self._peripherals.clocks.core_hz())
        self._apply_reset()

    def _respond(self, stop: Stop) -> None:
        """Do what the end of a slice asks for."""
        if self._reset_wanted is not None:
            return
        if stop.fault is not None:
            self._exceptions.raise_fault(stop.fault)
        elif stop.why is Why.EXCEPTION_RETURN:
            self._exceptions.leave()
        elif stop.why is Why.SUPERVISOR_CALL:
            self._exceptions.call_supervisor()
        elif stop.why is Why.WAIT_FOR_INTERRUPT:
            self._run_control.sleeping = not self._exceptions.wakes_up()
        elif stop.why in (Why.BREAKPOINT_INSTRUCTION, Why.BREAKPOINT_COMPARATOR):
            self._break()
        self._caught()

    def _break(self) -> None:
        """A breakpoint: for the debugger, or a fault when there is none."""
        if self._debugger_attached():
            self._run_control.halt_for(DFSR_BKPT)
        else:
            self._exceptions.raise_debug_event()

    def _caught(self) -> bool:
        """Whether the debugger catches the exception that was entered last; then the core is halted."""
        taken, self._exceptions.taken = self._exceptions.taken, None
        if taken is None or not self._private.debug.catches(taken):
            return False
        self._run_control.halt_for(DFSR_VCATCH)
        return True

    def _catch_up(self, seconds: float) -> None:
        """Let the timers see the time that has passed, and wake the core for what they have to say."""
        if self._private.systick.tick():
            self._interrupts.pending.add(SYS_TICK)
        if self._peripherals.usart.interrupt_requested():
            self._interrupts.pending.add(FIRST_INTERRUPT + INTERRUPT)
        if self._run_control.sleeping and self._exceptions.wakes_up():
            self._run_control.sleeping = False
        self._let_watchdog_count(seconds)
        self._since_reset_s += seconds
        if self._faults.reset_after_s is not None and self._since_reset_s >= self._faults.reset_after_s:
            self._reset_wanted = ResetCause.PIN

    def _let_watchdog_count(self, seconds: float) -> None:
        if self._peripherals.watchdog.elapse(seconds):
            self._reset_wanted = ResetCause.WATCHDOG

    def _watchdog_s(self) -> float:
        """Seconds until the watchdog bites."""
        remaining = self._peripherals.watchdog.remaining_s
        return max(0.0, remaining) if remaining is not None else _HALTED_SLEEP_S

    def _cycles_to_event(self) -> int:
        """How many cycles until a timer wants attention."""
        remaining = self._peripherals.watchdog.remaining_s
        tick = self._private.systick.cycles_to_tick()
        if remaining is None:
            return tick
        return min(tick, int(remaining * self._peripherals.clocks.core_hz()) + 1)

    def _debugger_attached(self) -> bool:
        return self._private.debug.enabled

    def _program(self, offset: int, value: bytes) -> None:
        """A store to the flash array."""
        self._flash.store(offset, value)

    def _execute_one(self) -> None:
        """One instruction, for the debugger."""
        self._core.forget_code()
        self._run_slice(1)
        self._core.forget_code()

    def _request_reset(self) -> None:
        """Software, or a debugger, asks for a reset: it comes when the instruction has ended."""
        self._reset_wanted = ResetCause.SOFTWARE
        self._core.stop()

    def _apply_reset(self) -> None:
        if self._reset_wanted is not None:
            self._reset(self._reset_wanted)

    def _reset(self, cause: ResetCause) -> None:
        """Start from the vector table at address 0."""
        self._reset_wanted = None
        self._since_reset_s = 0.0
        self._faults.hanging = False
        self._peripherals.reset(cause)
        self._private.reset()
        self._interrupts.reset()
        self._control.reset()
        self._exceptions.reset()
        self._run_control.sleeping = False
        self._run_control.halted = False
        self._load_vectors()
        if self._private.debug.catches_reset():
            self._run_control.halt_for(DFSR_VCATCH)

    def _load_vectors(self) -> None:
        """Stack pointer and pc from the first two words of flash; all other registers cleared."""
        self._flash.settle()
        stack, entry = (int.from_bytes(self._memory.flash[at : at + 4], "little") for at in (0, 4))
        for register in (*registers.GENERAL, registers.PRIMASK, registers.BASEPRI, registers.FAULTMASK, registers.PSP):
            self._core.write(register, 0)
        self._core.write(registers.XPSR, registers.XPSR_THUMB if entry & 1 else 0)
        self._core.write(registers.CONTROL, 0)
        self._core.write(registers.SP, stack & ~3)
        self._core.write(registers.LR, 0xFFFFFFFF)
        self._core.pc = entry & ~1
        self._core.forget_code()
