"""What can be broken about a virtual board: held here, looked at by the parts that it concerns."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from harness.virtual.link import Status


@dataclass
class FlashFaults:
    """Broken flash cells; addresses are offsets into the array.

    Attributes:
        stuck_bits: by offset, the bits that do not program: they stay as they are.
        flipped_bits: by offset, the bits that come out wrong after programming.
        busy_stuck: the next erase or program operation never ends.
        failing_sector: a sector whose erase ends with an error.
    """

    stuck_bits: dict[int, int] = field(default_factory=dict)
    flipped_bits: dict[int, int] = field(default_factory=dict)
    busy_stuck: bool = False
    failing_sector: int | None = None

    @property
    def cells_broken(self) -> bool:
        """Whether any cell programs wrongly."""
        return bool(self.stuck_bits or self.flipped_bits)

    def programmed(self, offset: int, before: bytes, wanted: bytes) -> bytes:
        """What cells hold after programming.

        Args:
            offset: of the first byte.
            before: what they held.
            wanted: what good cells would hold now.
        """
        return bytes(self._cell(offset + index, *pair) for index, pair in enumerate(zip(before, wanted, strict=True)))

    def _cell(self, offset: int, before: int, wanted: int) -> int:
        stuck = self.stuck_bits.get(offset, 0)
        return (wanted & ~stuck | before & stuck) ^ self.flipped_bits.get(offset, 0)


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


@dataclass(frozen=True)
class SerialFault:
    """Trouble on a serial line, in one direction.

    Attributes:
        kind: `drop`, `duplicate` or `garble` bytes, insert `noise` bytes before one, `delay` one and all after it, or
            `split` the stream so that bytes come one by one.
        first: the first byte concerned, from 0, counted from the injection on.
        count: how many bytes are concerned, or inserted; None: all from then on. A delay concerns all that follow.
        delay_s: for how long, or between two bytes, in real time.
    """

    kind: str
    first: int
    count: int | None = 1
    delay_s: float = 0.0

    def hits(self, index: int) -> bool:
        """Whether the byte of this number is concerned."""
        return index >= self.first and (self.count is None or index < self.first + self.count)


_TIMING_KINDS = ("delay", "split")
SERIAL_FAULT_KINDS = ("drop", "duplicate", "garble", "noise", *_TIMING_KINDS)


class SerialFaults:
    """What a serial line makes of the bytes that pass in one direction."""

    def __init__(self) -> None:
        self._fault: SerialFault | None = None
        self._passed = self._released = 0
        self._held_since: float | None = None
        self._random = random.Random(0)  # noqa: S311 - no secret, and the same every time

    def inject(self, fault: SerialFault | None) -> None:
        """Have `fault` instead of what was before; count from zero."""
        self._fault = fault
        self._passed = self._released = 0
        self._held_since = None

    def apply(self, data: bytes) -> bytes:
        """What comes out of the line."""
        if self._fault is None or self._fault.kind in _TIMING_KINDS:
            return data
        return b"".join(self._byte(self._fault, value) for value in data)

    def released_bytes(self, now_s: float) -> int | None:
        """How many more bytes the receiver may have now; None: as many as there are."""
        if self._fault is None or self._fault.kind not in _TIMING_KINDS:
            return None
        if self._released < self._fault.first:
            return self._fault.first - self._released
        if self._held_since is None:
            self._held_since = now_s
        if self._fault.kind == "split" and not self._fault.hits(self._released):
            return None
        if now_s - self._held_since < self._fault.delay_s:
            return 0
        return 1 if self._fault.kind == "split" else None

    def note_released(self, size_bytes: int) -> None:
        """So many bytes have been handed to the receiver."""
        self._released += size_bytes
        if self._fault is not None and self._fault.kind == "split":
            self._held_since = None  # each byte is held for itself

    def _byte(self, fault: SerialFault, value: int) -> bytes:
        index = self._passed
        self._passed += 1
        original = bytes([value])
        if fault.kind == "noise":
            return self._random.randbytes(fault.count or 1) + original if index == fault.first else original
        if not fault.hits(index):
            return original
        return {"drop": b"", "duplicate": original * 2}.get(fault.kind, bytes([garbled(value)]))


def garbled(value: int) -> int:
    """A byte as a receiver at another speed might take it: never the right one, and no ASCII for ASCII."""
    return value ^ 0xDB


@dataclass
class Faults:
    """All that is broken about one board."""

    flash: FlashFaults = field(default_factory=FlashFaults)
    clock: ClockFaults = field(default_factory=ClockFaults)
    device: DeviceFaults = field(default_factory=DeviceFaults)
    link: LinkFaults = field(default_factory=LinkFaults)
    to_device: SerialFaults = field(default_factory=SerialFaults)
    from_device: SerialFaults = field(default_factory=SerialFaults)

    def clear(self) -> None:
        """Mend everything. The parts keep looking at the same objects."""
        self.flash.stuck_bits.clear()
        self.flash.flipped_bits.clear()
        self.flash.busy_stuck = False
        self.flash.failing_sector = None
        self.clock.hse_missing = False
        self.clock.error_percent = 0.0
        self.clock.baud_factor = 1.0
        self.device.hanging = False
        self.device.reset_after_s = None
        self.link.inject(None)
        self.to_device.inject(None)
        self.from_device.inject(None)
