"""What a debugger finds when it walks the CoreSight ROM table, and the trace registers (ARMv7-M appendix D4)."""

from __future__ import annotations

from collections.abc import Callable

from harness.virtual.stm32f407.chip.bus import Bus, HoldingRegisters
from harness.virtual.stm32f407.chip.timebase import Timebase

ROM_TABLE = 0xE00FF000
ITM, DWT, FPB, SCS, TPIU = 0xE0000000, 0xE0001000, 0xE0002000, 0xE000E000, 0xE0040000
DBGMCU = 0xE0042000
DEVICE_ID = 0x10076413
"""DBGMCU_IDCODE of an STM32F405/407, revision 2 (RM0090 section 38.6.1)."""
FREEZE_APB1 = 0x08
"""Offset of DBGMCU_APB1_FZ."""

_IDENTIFICATION, _IDENTIFICATION_BYTES = 0xFCC, 0x34
_GENERIC, _CORESIGHT, _TABLE = 0xE, 0x9, 0x1
_ARM, _ST = 0x4000BB000, 0x0000A0413
_COMPONENTS = (
    (ROM_TABLE, _TABLE, _ST, 0),
    (SCS, _GENERIC, _ARM | 0x00C, 0),
    (DWT, _GENERIC, _ARM | 0x300002, 0),
    (FPB, _GENERIC, _ARM | 0x200003, 0),
    (ITM, _GENERIC, _ARM | 0x300001, 0),
    (TPIU, _CORESIGHT, _ARM | 0x0009A1, 0x11),
)
"""Address, component class, peripheral id, device type."""
_CYCCNTENA = 1 << 0


class Identification:
    """The read-only words at the end of a component's 4 KB.

    Args:
        component_class: 1 for a ROM table, 9 for CoreSight, 14 for generic IP.
        peripheral_id: PIDR7 to PIDR0, 8 bits of each.
        device_type: DEVTYPE.
    """

    def __init__(self, component_class: int, peripheral_id: int, device_type: int) -> None:
        peripheral = peripheral_id.to_bytes(8, "little")
        component = bytes([0x0D, component_class << 4, 0x05, 0xB1])
        self._words = bytes([device_type]) + peripheral[4:] + peripheral[:4] + component

    def read(self, offset: int) -> int:
        """One of the words."""
        return self._words[offset // 4]

    def write(self, offset: int, value: int, mask: int) -> None:
        """Writes have no effect."""


class TraceMacrocell:
    """ITM: always ready to take what is written to its stimulus ports, and drops it."""

    def __init__(self) -> None:
        self._registers = HoldingRegisters()

    def read(self, offset: int) -> int:
        """A register."""
        return 1 if offset < 0x80 else self._registers.read(offset)

    def write(self, offset: int, value: int, mask: int) -> None:
        """A register."""
        self._registers.write(offset, value, mask)


class Watchpoints:
    """DWT: the cycle counter counts; the four comparators only keep what is written.

    Args:
        time: emulated time.
        trace_enabled: whether DEMCR.TRCENA is set.
    """

    def __init__(self, time: Timebase, trace_enabled: Callable[[], bool]) -> None:
        self._time = time
        self._trace_enabled = trace_enabled
        self._registers = HoldingRegisters({0: 4 << 28})
        self._count = 0
        self._since: int | None = None

    def reset(self) -> None:
        """As after a power-on reset."""
        self._registers.reset()
        self._count, self._since = 0, None

    def read(self, offset: int) -> int:
        """A register."""
        if offset == 4:
            return self._cycles()
        return self._registers.read(offset)

    def write(self, offset: int, value: int, mask: int) -> None:
        """A register; CYCCNT goes on from what is written."""
        self._count = value if offset == 4 else self._cycles()
        if offset != 4:
            self._registers.write(offset, value, mask)
        counting = self._trace_enabled() and self._registers.read(0) & _CYCCNTENA
        self._since = self._time.now() if counting else None

    def _cycles(self) -> int:
        passed = self._time.now() - self._since if self._since is not None else 0
        return self._count + passed & 0xFFFFFFFF


def attach(bus: Bus) -> HoldingRegisters:
    """Put the ROM table and all identification words on the bus, and the device's debug configuration.

    Returns:
        The registers of DBGMCU.
    """
    for address, component_class, peripheral_id, device_type in _COMPONENTS:
        identification = Identification(component_class, peripheral_id, device_type)
        bus.attach(address + _IDENTIFICATION, _IDENTIFICATION_BYTES, identification)
    entries = [address - ROM_TABLE & 0xFFFFF000 | 3 for address, *_ in _COMPONENTS[1:]]
    bus.attach(ROM_TABLE, _IDENTIFICATION, HoldingRegisters({4 * i: entry for i, entry in enumerate(entries)}))
    configuration = HoldingRegisters({0: DEVICE_ID})
    bus.attach(DBGMCU, 0x400, configuration)
    return configuration
