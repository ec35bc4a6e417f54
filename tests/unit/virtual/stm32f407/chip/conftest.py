from __future__ import annotations

import pytest

pytest.importorskip("unicorn", reason="virtual boards need the extra `virtual`")

from harness.virtual.flash_array import open_flash
from harness.virtual.stm32f407.chip.machine import Machine
from harness.virtual.stm32f407.chip.memory import FLASH_BYTES, FLASH_START
from harness.virtual.stm32f407.faults import Faults
from harness.virtual.stm32f407.serial_line import SerialLine

STACK_TOP = 0x2001_0000
PROGRAM = 0x0800_0100
HANDLER = 0x0800_0800
DHCSR, DCRSR, DCRDR, DEMCR = 0xE000EDF0, 0xE000EDF4, 0xE000EDF8, 0xE000EDFC
DEBUG_KEY = 0xA05F0000
BRANCH_TO_SELF = bytes.fromhex("fee7")
_NUMBERS = {"r0": 0, "r1": 1, "r2": 2, "sp": 13, "msp": 17, "psp": 18, "special": 20}


class Bench:
    """A machine with programs of a few instructions in its flash, and a debugger's hands on it."""

    def __init__(self) -> None:
        self.faults = Faults()
        self.line = SerialLine(self.faults)
        self.flash = open_flash(None, FLASH_BYTES)
        self.machine = Machine("test", self.flash, self.line, self.faults)

    def load(self, program: str, handlers: dict[int, str] | None = None, entry: int = PROGRAM | 1) -> None:
        """Put Thumb code, as hex digits, at PROGRAM, and handlers, 256 bytes apart, at HANDLER; then reset.

        Exceptions without a handler of their own go to a branch to itself at HANDLER.
        """
        self.flash[:] = b"\xff" * FLASH_BYTES
        vectors = [STACK_TOP, entry] + [HANDLER | 1] * 96
        self._place(HANDLER, BRANCH_TO_SELF)
        self._place(PROGRAM, bytes.fromhex(program))
        for index, (exception, code) in enumerate((handlers or {}).items(), 1):
            vectors[exception] = HANDLER + 0x100 * index | 1
            self._place(HANDLER + 0x100 * index, bytes.fromhex(code))
        self._place(FLASH_START, b"".join(vector.to_bytes(4, "little") for vector in vectors[:64]))
        self.reset()

    def _place(self, address: int, code: bytes) -> None:
        self.flash[address - FLASH_START : address - FLASH_START + len(code)] = code

    def reset(self) -> None:
        self.machine.set_reset(True)
        self.machine.set_reset(False)

    def run(self, slices: int = 8, limit: int = 1000) -> None:
        for _ in range(slices):
            self.machine.run(limit)

    def word(self, address: int) -> int:
        return int.from_bytes(self.machine.read_memory(address, 4, 4), "little")

    def put(self, address: int, value: int) -> None:
        self.machine.write_memory(address, value.to_bytes(4, "little"), 4)

    def halt(self) -> None:
        self.put(DHCSR, DEBUG_KEY | 3)

    def resume(self) -> None:
        self.put(DHCSR, DEBUG_KEY | 1)

    def step(self) -> None:
        self.put(DHCSR, DEBUG_KEY | 5)

    def register(self, number: int) -> int:
        self.put(DCRSR, number)
        return self.word(DCRDR)

    def set_register(self, number: int, value: int) -> None:
        self.put(DCRDR, value)
        self.put(DCRSR, number | 1 << 16)

    @property
    def pc(self) -> int:
        return self.register(15)

    def start_with(self, program: str, handlers: dict[int, str] | None = None, **registers: int) -> None:
        """Load a program, preset registers (r0=…, sp=…), and let it run without a debugger."""
        self.load(program, handlers)
        self.halt()
        for name, value in registers.items():
            self.set_register(_NUMBERS[name], value)
        self.put(DHCSR, DEBUG_KEY)


@pytest.fixture
def bench():
    made = Bench()
    yield made
    made.line.close()
