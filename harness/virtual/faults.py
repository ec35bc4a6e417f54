"""What can be broken about any virtual board: held here, looked at by the parts that it concerns."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from harness.virtual.line_speed import garbled


@dataclass
class CellFaults:
    """Broken flash cells; addresses are offsets into the array.

    Attributes:
        stuck_bits: by offset, the bits that do not program: they stay as they are.
        flipped_bits: by offset, the bits that come out wrong after programming.
    """

    stuck_bits: dict[int, int] = field(default_factory=dict)
    flipped_bits: dict[int, int] = field(default_factory=dict)

    @property
    def any_broken(self) -> bool:
        """Whether any cell programs wrongly."""
        return bool(self.stuck_bits or self.flipped_bits)

    def clear(self) -> None:
        """Mend them."""
        self.stuck_bits.clear()
        self.flipped_bits.clear()

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


@dataclass
class LineFaults:
    """Trouble on a serial line, in both directions."""

    to_device: SerialFaults = field(default_factory=SerialFaults)
    from_device: SerialFaults = field(default_factory=SerialFaults)

    def towards(self, receiver: str) -> SerialFaults:
        """The direction of which this is the end.

        Args:
            receiver: `device` or `host`.

        Raises:
            KeyError: it is neither.
        """
        return {"device": self.to_device, "host": self.from_device}[receiver]

    def clear(self) -> None:
        """Mend it."""
        self.to_device.inject(None)
        self.from_device.inject(None)
