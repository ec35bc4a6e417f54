"""The processor core: Unicorn as a Cortex-M4F that runs in slices, and says why each slice ended."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum, auto
from types import MappingProxyType
from typing import Any

from unicorn import (  # type: ignore[attr-defined]  # Uc and UcError are exported without being declared so
    UC_ARCH_ARM,
    UC_ERR_FETCH_PROT,
    UC_ERR_FETCH_UNMAPPED,
    UC_ERR_INSN_INVALID,
    UC_HOOK_CODE,
    UC_HOOK_INTR,
    UC_HOOK_MEM_READ_INVALID,
    UC_HOOK_MEM_WRITE_PROT,
    UC_HOOK_MEM_WRITE_UNMAPPED,
    UC_MODE_MCLASS,
    UC_MODE_THUMB,
    UC_PROT_EXEC,
    UC_PROT_NONE,
    UC_PROT_READ,
    UC_PROT_WRITE,
    Uc,
    UcError,
)
from unicorn.arm_const import UC_ARM_REG_PC, UC_ARM_REG_XPSR, UC_CPU_ARM_CORTEX_M4

from harness.virtual.stm32f407.chip import faultstatus
from harness.virtual.stm32f407.chip.bus import Bus, BusError
from harness.virtual.stm32f407.chip.faultstatus import Fault
from harness.virtual.stm32f407.chip.instruction_counter import InstructionCounter
from harness.virtual.stm32f407.chip.memory import RAM_START, Memory, Region
from harness.virtual.stm32f407.chip.timebase import Timebase

REGISTER_RANGES = (
    (0x40000000, 0x8000),  # APB1
    (0x40010000, 0x5000),  # APB2
    (0x40020000, 0x60000),  # AHB1
    (0x50000000, 0x61000),  # AHB2
    (0xE0000000, 0x100000),  # the core's own: private peripheral bus
)
_NOWHERE = 0xDFFFFFFE
_THUMB = 1 << 24
_WAIT_FOR_INTERRUPT = (b"\x30\xbf", b"\xaf\xf3\x03\x80")
_WAIT_FOR_EVENT = b"\x20\xbf"


class Why(Enum):
    """Why a slice ended."""

    LIMIT = auto()
    REQUESTED = auto()
    SUPERVISOR_CALL = auto()
    BREAKPOINT_INSTRUCTION = auto()
    BREAKPOINT_COMPARATOR = auto()
    EXCEPTION_RETURN = auto()
    WAIT_FOR_INTERRUPT = auto()
    FAULT = auto()


@dataclass(frozen=True)
class Stop:
    """The end of a slice.

    Attributes:
        why: its cause.
        fault: what went wrong, when that is the cause.
    """

    why: Why
    fault: Fault | None = None


_UNDEFINED = Stop(Why.FAULT, Fault(faultstatus.USAGE_FAULT, faultstatus.UNDEFINSTR))
_HOOKED: Mapping[int, Stop] = MappingProxyType(
    {
        2: Stop(Why.SUPERVISOR_CALL),
        7: Stop(Why.BREAKPOINT_INSTRUCTION),
        8: Stop(Why.EXCEPTION_RETURN),
        17: Stop(Why.FAULT, Fault(faultstatus.USAGE_FAULT, faultstatus.NOCP)),
        18: Stop(Why.FAULT, Fault(faultstatus.USAGE_FAULT, faultstatus.INVSTATE)),
    }
)
"""By number of Unicorn's interrupt hook (QEMU's EXCP_ constants for ARM)."""


class Core:
    """Runs instructions.

    Args:
        memory: what is mapped as memory.
        bus: answers everywhere else.
        store_to_flash: called with offset and bytes of a store to the flash array.
    """

    def __init__(self, memory: Memory, bus: Bus, store_to_flash: Callable[[int, bytes], None]) -> None:
        self._memory = memory
        self._bus = bus
        self._store_to_flash = store_to_flash
        self._engine = _cortex_m4()
        self._map()
        self._counter = InstructionCounter(self._engine, RAM_START)
        self._stop: Stop | None = None
        self._stale = False
        self._breakpoints: dict[int, int] = {}
        self._flash_readable = True
        self.time = Timebase(self._counter.executed)
        self.pc = 0

    def read(self, register: int) -> int:
        """A register by Unicorn's number, as 32 bits."""
        return int(self._engine.reg_read(register)) & 0xFFFFFFFF

    def write(self, register: int, value: int) -> None:
        """Set a register by Unicorn's number."""
        self._engine.reg_write(register, value)

    def run(self, limit: int) -> Stop:
        """Run at most `limit` instructions from `pc` on."""
        self._refresh()
        self._stop = None
        self._counter.start(limit)
        start = self.pc
        try:
            self._engine.emu_start(self._entry(), _NOWHERE, count=limit)
        except UcError as error:
            self._stop = self._stop or self._explain(error, start)
        return self._finish(limit)

    def stop(self) -> None:
        """End the slice after the instruction that runs now."""
        self._counter.end_slice()
        self._stop = self._stop or Stop(Why.REQUESTED)

    def forget_code(self) -> None:
        """Memory has changed behind the engine's back: translate anew what it runs."""
        self._stale = True

    def set_breakpoints(self, addresses: Iterable[int]) -> None:
        """Stop before these instructions, and no others."""
        for hook in self._breakpoints.values():
            self._engine.hook_del(hook)
        self._breakpoints = {
            address: self._engine.hook_add(UC_HOOK_CODE, self._on_breakpoint, begin=address, end=address)
            for address in addresses
        }
        self._stale = True

    def set_flash_readable(self, readable: bool) -> None:
        """Let the flash be read and executed, or answer with bus faults."""
        if readable == self._flash_readable:
            return
        self._flash_readable = readable
        for region in (self._memory.flash_region, self._memory.flash_alias):
            self._engine.mem_protect(region.start, region.size_bytes, _protection(region) if readable else UC_PROT_NONE)
        self._stale = True

    def _map(self) -> None:
        for region in self._memory.regions:
            self._engine.mem_map_ptr(region.start, region.size_bytes, _protection(region), region.pointer)
        for start, size in REGISTER_RANGES:
            self._engine.mmio_map(start, size, self._loader(start), None, self._storer(start), None)
        self._engine.hook_add(UC_HOOK_MEM_WRITE_PROT, self._on_protected_write)
        self._engine.hook_add(UC_HOOK_MEM_READ_INVALID | UC_HOOK_MEM_WRITE_UNMAPPED, self._on_invalid_access)
        self._engine.hook_add(UC_HOOK_INTR, self._on_interrupt)

    def _entry(self) -> int:
        """Where to start: Unicorn takes the Thumb bit from the address."""
        return self.pc | (1 if self.read(UC_ARM_REG_XPSR) & _THUMB else 0)

    def _refresh(self) -> None:
        if self._stale:
            self._engine.ctl_flush_tb()
            self._stale = False

    def _finish(self, limit: int) -> Stop:
        """Account for the slice that has ended."""
        executed = self._counter.executed()
        self._counter.start(0)
        self.time.skip(executed)
        stop = self._stop or self._silent_stop(executed, limit)
        self.pc = self.read(UC_ARM_REG_PC)
        if stop.fault is not None and stop.fault.pc is not None:
            self.pc = stop.fault.pc
        return stop

    def _silent_stop(self, executed: int, limit: int) -> Stop:
        """Of a slice without an event: Unicorn returns early, without a word, from an instruction that waits."""
        pc = self.read(UC_ARM_REG_PC)
        if executed < limit and any(self._ends_with(pc, code) for code in _WAIT_FOR_INTERRUPT):
            return Stop(Why.WAIT_FOR_INTERRUPT)
        return Stop(Why.LIMIT)

    def _ends_with(self, address: int, code: bytes) -> bool:
        """Whether `code` lies just before an address."""
        found = self._memory.find(address - len(code), len(code))
        return found is not None and found[0].data[found[1] : found[1] + len(code)] == code

    def _explain(self, error: UcError, start: int) -> Stop:
        """The fault behind an error of the engine that no hook has explained."""
        pc = self.read(UC_ARM_REG_PC)
        if error.errno == UC_ERR_FETCH_PROT and self._flash_readable:
            return Stop(Why.FAULT, Fault(faultstatus.MEM_MANAGE, faultstatus.IACCVIOL))
        if error.errno in (UC_ERR_FETCH_UNMAPPED, UC_ERR_FETCH_PROT):
            return Stop(Why.FAULT, Fault(faultstatus.BUS_FAULT, faultstatus.IBUSERR))
        if error.errno == UC_ERR_INSN_INVALID and pc != start and self._ends_with(pc, _WAIT_FOR_EVENT):
            return Stop(Why.REQUESTED)  # the engine takes a WFE for the end; waking at once is allowed
        if not self.read(UC_ARM_REG_XPSR) & _THUMB:
            return Stop(Why.FAULT, Fault(faultstatus.USAGE_FAULT, faultstatus.INVSTATE))
        return _UNDEFINED

    def _end(self, stop: Stop) -> None:
        """End the slice; the first cause counts, but any cause is more than a wish to stop."""
        if self._stop is None or self._stop.why is Why.REQUESTED:
            self._stop = stop
        self._engine.emu_stop()

    def _loader(self, base: int) -> Callable[[object, int, int, Any], int]:
        read = self._bus.read

        def load(_engine: object, offset: int, size: int, _data: object) -> int:
            try:
                return read(base + offset, size)
            except BusError as error:
                self._end_with_bus_fault(error.address)
                return 0

        return load

    def _storer(self, base: int) -> Callable[[object, int, int, int, Any], None]:
        write = self._bus.write

        def store(_engine: object, offset: int, size: int, value: int, _data: object) -> None:
            try:
                write(base + offset, size, value)
            except BusError as error:
                self._end_with_bus_fault(error.address)

        return store

    def _end_with_bus_fault(self, address: int) -> None:
        pc = self.read(UC_ARM_REG_PC)
        self._end(Stop(Why.FAULT, faultstatus.data_bus_fault(address, pc)))

    def _on_protected_write(
        self, _engine: object, _access: int, address: int, size: int, value: int, _data: object
    ) -> bool:
        """A store to memory that the core cannot write: flash programs, all else is a fault."""
        found = self._memory.find(address, size)
        if found is None or not self._memory.is_flash(found[0]):
            self._end_with_bus_fault(address)
            return False
        self._store_to_flash(found[1], (value & (1 << 8 * size) - 1).to_bytes(size, "little"))
        return True

    def _on_invalid_access(
        self, _engine: object, _access: int, address: int, _size: int, _value: int, _data: object
    ) -> bool:
        self._end_with_bus_fault(address)
        return False

    def _on_interrupt(self, _engine: object, number: int, _data: object) -> None:
        self._end(_HOOKED.get(number, _UNDEFINED))

    def _on_breakpoint(self, _engine: object, _address: int, _size: int, _data: object) -> None:
        self._end(Stop(Why.BREAKPOINT_COMPARATOR))


def _cortex_m4() -> Any:  # noqa: ANN401 - half of the engine's methods have no type hints
    engine: Any = Uc(UC_ARCH_ARM, UC_MODE_THUMB | UC_MODE_MCLASS)  # type: ignore[no-untyped-call]
    engine.ctl_set_cpu_model(UC_CPU_ARM_CORTEX_M4)
    return engine


def _protection(region: Region) -> int:
    return int(UC_PROT_READ | (UC_PROT_WRITE if region.writable else 0) | (UC_PROT_EXEC if region.executable else 0))
