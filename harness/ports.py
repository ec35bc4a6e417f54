"""The Protocols that plug-ins fulfil. Everything above them works with any board, compiler, probe or line."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol, runtime_checkable

from harness.domain.board import Board, MemoryRegion, Occupant
from harness.domain.dut import Dut, Probe, SerialPort
from harness.domain.family import ChipWords
from harness.domain.firmware import FirmwareImage, FlashPart, FlashSegment, PackedModel, TflmSource, ToolchainInfo


class Progress(Protocol):
    """Told how far a long piece of work is."""

    def __call__(self, what: str, done: int, total: int) -> None:
        """`what` is being done; `done` of `total` units of it are finished."""


class TflmProvider(Protocol):
    """Where TFLM's sources come from."""

    def fetch(self, progress: Progress) -> TflmSource:
        """Bring the sources to this machine, or find them here.

        Raises:
            SourceError: they cannot be had, or are not the pinned ones.
        """


@runtime_checkable
class Verifiable(Protocol):
    """What a provider of a library that somebody else has compiled may offer besides."""

    def verify(self, source: TflmSource, probe: Path, board: Board) -> None:
        """Make sure that the library and a firmware can be linked and will understand each other.

        Args:
            source: what `fetch` gave.
            probe: an object file without content, compiled with the firmware's flags.
            board: that the firmware is for.

        Raises:
            SourceError: they cannot, and why.
        """


class Toolchain(Protocol):
    """A C++ compiler for one ABI. Its methods may be called from several threads."""

    def identify(self) -> ToolchainInfo:
        """Which compiler it is.

        Raises:
            ToolchainError: it is not installed, or does not run.
        """

    def compile(self, source: Path, target: Path, flags: Sequence[str]) -> None:
        """Compile one C, C++ or assembler file into an object file.

        Raises:
            BuildError: the compiler refused.
        """

    def archive(self, objects: Sequence[Path], target: Path) -> None:
        """Put object files into a static library."""

    def link(self, inputs: Sequence[Path], script: Path, target: Path, flags: Sequence[str]) -> None:
        """Link object files and libraries into an ELF file.

        Raises:
            BuildError: undefined symbols, or a region that overflowed (named, with the number of bytes).
        """

    def symbols(self, elf: Path) -> Mapping[str, int]:
        """The addresses of an ELF file's global symbols."""

    def contents(self, elf: Path, address: int, size_bytes: int) -> bytes:
        """What an ELF file puts at an address of the chip; gaps read as erased flash."""

    def flash_image(self, elf: Path) -> FlashSegment:
        """What an ELF file puts into flash, as one contiguous piece."""


class Family(Protocol):
    """What is true of the chips of one family, and of their core.

    `registers` are those of a fault frame or of `Inspectable`, by name.
    """

    @property
    def unit_id(self) -> MemoryRegion | None:
        """Where a probe finds the id that the chip's firmware says in its hello; None where none can read it."""

    @property
    def words(self) -> ChipWords:
        """What only these chips say on the serial line."""

    @property
    def mapped_registers(self) -> Mapping[str, int]:
        """Name and address of each fault register that lies in memory, for a probe."""

    @property
    def core_choice(self) -> str:
        """What makes code for another core, as an aside in a sentence: compiler flags, for example."""

    def explain(self, registers: Mapping[str, int]) -> Sequence[str]:
        """What the registers say of a fault, in words; empty when they say nothing."""

    def fault_address(self, registers: Mapping[str, int]) -> int | None:
        """The address of data that could not be accessed; None when the core does not know it."""

    def lacks_instruction(self, registers: Mapping[str, int]) -> bool:
        """Whether the core came upon an instruction that it does not have."""

    def stack_pointer(self, registers: Mapping[str, int]) -> int:
        """The application's stack pointer, by what a probe has read, whatever the core was doing."""

    def code_address(self, address: int) -> int:
        """Where an instruction lies, by what a symbol, a pointer to a function or the program counter says of it."""

    def call_site(self, word: int) -> int | None:
        """An address inside the call that a return address returns from; None when it can be no return address."""


class Line(Protocol):
    """An open serial line."""

    @property
    def port(self) -> str:
        """Its device path or URL."""

    def read(self, timeout_s: float) -> bytes:
        """What has arrived, waiting at most `timeout_s` for the first byte; empty when nothing came.

        Raises:
            SerialPortError: the port is gone.
        """

    def write(self, data: bytes) -> None:
        """Send all of `data`.

        Raises:
            SerialPortError: the port is gone, or does not take the bytes.
        """

    def set_control(self, *, dtr: bool, rts: bool) -> None:
        """Assert or release the modem lines, first DTR, then RTS.

        Raises:
            SerialPortError: the port is gone, or has no such lines.
        """

    def close(self) -> None:
        """Give the port back. Never raises."""


class Transport(Protocol):
    """A way to talk to a board's serial line."""

    def ports(self) -> Sequence[SerialPort]:
        """The lines that this machine has, as far as they can be listed."""

    def open(self, port: str, baud_rate: int) -> Line:
        """Open `port` and throw away what it still held.

        Raises:
            SerialPortError: it does not exist, may not be opened, or is in use (by which process).
        """


class Packager(Protocol):
    """How firmware and model are laid out in a chip's flash."""

    def parts(self, image: FirmwareImage, model: PackedModel | None) -> Sequence[FlashPart]:
        """What the flash is to hold, in the order in which it is to be written.

        Raises:
            DoesNotLinkError: the model does not fit beside the firmware.
        """


@runtime_checkable
class KnowsOccupants(Protocol):
    """What a packager may offer besides: it knows what other programs than harness put into a chip's flash."""

    def occupants(self, read: Callable[[int, int], bytes]) -> Sequence[Occupant]:
        """What is there, as far as the flash itself tells; `read` takes an address and a number of bytes."""


class FlashSession(Protocol):
    """A probe that is connected to a chip."""

    def read(self, address: int, size_bytes: int) -> bytes:
        """Read memory.

        Raises:
            FlashError: the chip does not let it be read.
            LockedError: read-out protection.
        """

    def write(self, segment: FlashSegment, progress: Progress) -> None:
        """Erase the sectors that `segment` touches, program it, read it back and compare.

        Bytes of these sectors outside the segment are lost. One end of the segment is erased first and programmed last,
        the start by a probe, the end by a boot loader: an interrupted write never leaves that end beside a part.

        Raises:
            FlashError: erase or program failed, or other bytes read back (address, found, expected).
            LockedError: read-out protection.
        """

    def start(self, open_line: Callable[[], Line]) -> Line:
        """Hold the chip in reset or halted, open the line, let the chip run from its reset vector."""

    def restart(self, line: Line) -> None:
        """Reset the chip and let it run, the line staying open."""


@runtime_checkable
class Inspectable(Protocol):
    """What a flash session may offer besides: a look into a core that has died."""

    def registers(self, mapped: Mapping[str, int]) -> Mapping[str, int]:
        """Halt the core and read its registers; it stays halted until it is started anew.

        Args:
            mapped: name and address of each register that lies in memory and is wanted besides.

        Returns:
            By the names that the core's reference manual gives them, lower case; `pc`, `lr` and `sp` always.

        Raises:
            ProbeError: there is no way to the core.
        """


@runtime_checkable
class HaltWatcher(Protocol):
    """What a flash session may offer besides: whether the core stands still."""

    def is_halted(self) -> bool:
        """Whether a debugger has halted the core; a core that met a breakpoint of its own program is not meant.

        Raises:
            ProbeError: there is no way to the core.
        """


class Flasher(Protocol):
    """A way to write a chip's flash and to start it."""

    @property
    def uses_probe(self) -> bool:
        """Whether it needs a debug probe; otherwise it works through the serial port."""

    def prepare(self) -> None:
        """Begin what takes long, such as loading a probe library, and return at once."""

    def probes(self) -> Sequence[Probe]:
        """What is plugged in, virtual probes included."""

    def connect(self, dut: Dut) -> AbstractContextManager[FlashSession]:
        """Connect to the chip of `dut`.

        Every call into the session has a deadline: a probe that hangs is killed and named.

        Raises:
            ProbeError: no such probe, or it does not answer.
            WrongDeviceError: another chip than the board's.
            LockedError: read-out protection.
        """


class UnitSource(Protocol):
    """Finds one unit of a board, or brings it into being."""

    def acquire(
        self, board: Board, probe: str | None, port: str | None, *, flasher: Flasher, transport: Transport
    ) -> AbstractContextManager[Dut]:
        """The unit to work with, for as long as the context lasts.

        Args:
            board: which kind.
            probe: the probe's unique id, when there are several.
            port: the serial port, when there are several.
            flasher: will write to the unit; it knows the probes.
            transport: will talk to the unit; it knows the ports.

        Raises:
            ProbeError, SerialPortError: none found, or several: the error lists them.
        """
