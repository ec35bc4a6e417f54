"""A board: a kind of hardware, real or virtual, as one TOML file in `boards/` describes it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class MemoryRegion:
    """A stretch of the chip's address space.

    Attributes:
        start: first address.
        size_bytes: length in bytes.
    """

    start: int
    size_bytes: int

    @property
    def end(self) -> int:
        """The first address behind the region."""
        return self.start + self.size_bytes

    def holds(self, address: int, size_bytes: int = 1) -> bool:
        """Whether `size_bytes` bytes from `address` lie inside."""
        return self.start <= address and address + size_bytes <= self.end


@dataclass(frozen=True)
class Occupant:
    """What somebody else has put into flash.

    Attributes:
        name: how its owner calls it, such as `nvs`.
        region: where.
    """

    name: str
    region: MemoryRegion


@dataclass(frozen=True)
class Board:
    """Everything harness knows of a kind of board.

    Attributes:
        id: the name of its file, as `--board` takes it.
        title: its name for people.
        family: names the firmware port, a folder of `firmware/ports`, and the plug-in that knows the chips.
        abi: the struct sizes that its compiler makes: `arm32`, `xtensa32`.
        toolchain, flasher, transport, units: plug-in names.
        cpu_flags: compiler flags that choose core and ABI.
        defines: preprocessor symbols for the port, such as the crystal's frequency.
        flash_target: the flasher's own name of the chip, such as `stm32f407xg`.
        firmware_flash: where the firmware goes.
        model_flash: where the model goes, behind its header.
        ram: the RAM that holds the arena.
        stack_ram: the RAM for the stack and the harness's own data; None when it shares `ram`.
        baud_rate: bits per second of the serial line.
        watchdog_s: seconds without a sign of life after which the device resets itself.
        machine: the virtual machine that plays this board; None for hardware.
        packager: the plug-in that arranges firmware and model in flash.
        mapped_flash: where the firmware's code and constants go that the core reads in place, through a cache, while
            `firmware_flash` is copied into RAM; None where all of it runs from flash.
        code_ram: the RAM that a boot loader copies the code into; None where code runs from flash.
        optimization: the compiler's optimisation level. On an emulated Cortex-M4, -O2 runs convolutions in half the
            instructions of -Os and takes 180 KB of flash; -O3 saves another 6 to 38 % and takes 254 KB, which leaves
            no room for another compiler's version where the firmware has 256 KB.
        connect_mode: how the flasher gets hold of the chip: `halt`, or `under-reset` for firmware that locks it out.
    """

    id: str
    title: str
    family: str
    abi: str
    toolchain: str
    flasher: str
    transport: str
    units: str
    cpu_flags: tuple[str, ...]
    flash_target: str
    firmware_flash: MemoryRegion
    model_flash: MemoryRegion
    ram: MemoryRegion
    stack_ram: MemoryRegion | None
    baud_rate: int
    watchdog_s: float
    machine: str | None = None
    defines: Mapping[str, str] = field(default_factory=dict)
    connect_mode: str = "halt"
    packager: str = "flat"
    mapped_flash: MemoryRegion | None = None
    code_ram: MemoryRegion | None = None
    optimization: str = "-O2"

    @property
    def flash_end(self) -> int:
        """The first address behind all that harness writes."""
        regions = (self.firmware_flash, self.mapped_flash, self.model_flash)
        return max(region.end for region in regions if region is not None)

    @property
    def emulated(self) -> bool:
        """True when ticks on this board are no timing."""
        return self.machine is not None
