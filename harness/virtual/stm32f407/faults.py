"""What can be broken about a virtual STM32F407, besides what any virtual board can have broken."""

from __future__ import annotations

from dataclasses import dataclass, field

from harness.virtual.faults import CellFaults, LineFaults
from harness.virtual.link import Status


@dataclass
class FlashFaults:
    """Trouble with the flash controller and its array.

    Attributes:
        cells: those that program wrongly.
        busy_stuck: the next erase or program operation never ends.
        failing_sector: a sector whose erase ends with an error.
    """

    cells: CellFaults = field(default_factory=CellFaults)
    busy_stuck: bool = False
    failing_sector: int | None = None

    def clear(self) -> None:
        """Mend it."""
        self.cells.clear()
        self.busy_stuck = False
        self.failing_sector = None


@dataclass
class ClockFaults:
    """Clocks that are not as the data sheet says.

    Attributes:
        hse_missing: the crystal does not start.
        error_percent: how much faster all oscillators run than they should.
        baud_factor: how much faster the serial port alone is than it should.
    """

    hse_missing: bool = False
    error_percent: float = 0.0
    baud_factor: float = 1.0


@dataclass
class DeviceFaults:
    """Devices that do not do what their firmware says.

    Attributes:
        hanging: no instruction is executed until the next reset.
        reset_after_s: how long after each reset, in emulated time, the next one comes by itself.
    """

    hanging: bool = False
    reset_after_s: float | None = None


@dataclass(frozen=True)
class LinkFault:
    """A debug transfer that fails.

    Attributes:
        first: the number of the first one that fails, from 1, counted from the injection on.
        count: how many fail in a row; None: all from then on.
        status: how they fail.
    """

    first: int
    count: int | None
    status: Status

    def hits(self, transfer: int) -> bool:
        """Whether the transfer of this number fails."""
        return transfer >= self.first and (self.count is None or transfer < self.first + self.count)


class LinkFaults:
    """Decides for each debug transfer whether it fails."""

    def __init__(self) -> None:
        self._fault: LinkFault | None = None
        self._transfers = 0

    def inject(self, fault: LinkFault | None) -> None:
        """Have `fault` instead of what was before; count from zero."""
        self._fault = fault
        self._transfers = 0

    def next(self) -> Status:
        """How the next transfer ends."""
        self._transfers += 1
        if self._fault is not None and self._fault.hits(self._transfers):
            return self._fault.status
        return Status.OK


@dataclass
class Faults:
    """All that is broken about one board."""

    flash: FlashFaults = field(default_factory=FlashFaults)
    clock: ClockFaults = field(default_factory=ClockFaults)
    device: DeviceFaults = field(default_factory=DeviceFaults)
    link: LinkFaults = field(default_factory=LinkFaults)
    line: LineFaults = field(default_factory=LineFaults)

    def clear(self) -> None:
        """Mend everything. The parts keep looking at the same objects."""
        self.flash.clear()
        self.clock.hse_missing = False
        self.clock.error_percent = 0.0
        self.clock.baud_factor = 1.0
        self.device.hanging = False
        self.device.reset_after_s = None
        self.link.inject(None)
        self.line.clear()
