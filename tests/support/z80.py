"""A chip family that harness has never heard of, with its probe and its serial lines: plug-ins for tests.

`install` makes them known as a package would: by entry points alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

from harness.domain.board import MemoryRegion
from harness.domain.dut import Dut, Probe, SerialPort
from harness.domain.family import BootText, ChipWords
from harness.errors import FlashError
from tests.support.scripted import Body, Script, ScriptedLine

ENTRY_POINTS = """
[harness.families]
z80 = tests.support.z80:Z80

[harness.flashers]
z80-probe = tests.support.z80:Z80Flasher

[harness.transports]
z80-lines = tests.support.z80:Z80Lines
"""
BOARD = """
title = "A board that nobody ever made"
family = "z80"
abi = "arm32"
units = "attached"

[build]
toolchain = "arm-gcc"
cpu_flags = []

[flash]
flasher = "z80-probe"
target = "z80"
firmware = { start = 0x0000, size_bytes = 0x4000 }
model = { start = 0x4000, size_bytes = 0x4000 }

[memory]
ram = { start = 0x8000, size_bytes = 0x8000 }

[serial]
transport = "z80-lines"
baud_rate = 9600

[watchdog]
timeout_s = 1.0
"""
UNIT = "c0ffee01"
FAULT: Body = {
    **{"frame": "fault", "kind": "bus_fault", "stage": "scan", "text": "", "pc": 0x1234, "lr": 0, "sp": 0x9000},
    **{"flags": 7, "trap": 2, "hl": 0xBEEF},
}


def install(folder: Path) -> None:
    """Put a distribution's description into a folder of the module search path."""
    description = folder / "z80-1.0.dist-info"
    description.mkdir()
    (description / "METADATA").write_text("Metadata-Version: 2.1\nName: z80\nVersion: 1.0\n")
    (description / "entry_points.txt").write_text(ENTRY_POINTS)


class Z80:
    """The family."""

    unit_id = MemoryRegion(0x0040, 4)
    words = ChipWords(
        boot_texts=(BootText(r"\?NO PROM", FlashError, "the socket is empty", "put a PROM into it"),),
        boot_speed="the monitor talks at 1200 baud",
        state_registers=("flags",),
        cause_registers=("trap", "hl"),
    )
    mapped_registers: Mapping[str, int] = {}
    core_choice = "-mz180"

    def explain(self, registers: Mapping[str, int]) -> Sequence[str]:
        return (f"trap {registers['trap']}: no such opcode",)

    def fault_address(self, registers: Mapping[str, int]) -> int | None:
        return registers["hl"]

    def lacks_instruction(self, registers: Mapping[str, int]) -> bool:
        return False

    def stack_pointer(self, registers: Mapping[str, int]) -> int:
        return registers["sp"]

    def code_address(self, address: int) -> int:
        return address & 0xFFFF

    def call_site(self, word: int) -> int | None:
        return None


class Z80Line(ScriptedLine):
    """A line with a wire to the unit's reset pin."""

    def set_control(self, *, dtr: bool, rts: bool) -> None:
        self.reset()


class Z80Lines:
    """Two serial ports, of which the second one is the unit's; it starts when it is opened.

    Attributes:
        script: what it answers instead of the usual.
    """

    script: ClassVar[Script | None] = None

    def ports(self) -> Sequence[SerialPort]:
        return [SerialPort(name, "", "") for name in ("left", "right")]

    def open(self, port: str, baud_rate: int) -> Z80Line:
        line = Z80Line(type(self).script, unit=UNIT if port == "right" else "00000000")
        line.boot()
        return line


class Z80Flasher:
    """One probe, which can read the unit's id and restart the unit."""

    uses_probe = True

    def prepare(self) -> None:
        """There is nothing to do."""

    def probes(self) -> Sequence[Probe]:
        return [Probe("probe", "")]

    @contextmanager
    def connect(self, dut: Dut) -> Iterator[Z80Session]:
        yield Z80Session()


class Z80Session:
    """A flash session."""

    def read(self, address: int, size_bytes: int) -> bytes:
        assert MemoryRegion(address, size_bytes) == Z80.unit_id
        return bytes.fromhex(UNIT)

    def start(self, open_line: Callable[[], Any]) -> Any:
        return open_line()

    def restart(self, line: Any) -> None:
        line.set_control(dtr=False, rts=True)
