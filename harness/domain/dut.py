"""A DUT (device under test): one physical or virtual unit of a board."""

from __future__ import annotations

from dataclasses import dataclass

from harness.domain.board import Board

VIRTUAL_PROBE_PREFIX = "virtual-"


@dataclass(frozen=True)
class Dut:
    """One unit that can be flashed and listened to.

    Attributes:
        board: what kind it is.
        probe_id: the debug probe's unique id; empty where the board has no debug port.
        port: the serial port, a device path or a pySerial URL; empty while it is to be found by asking.
    """

    board: Board
    probe_id: str
    port: str

    @property
    def name(self) -> str:
        """How messages call this unit."""
        return f"{self.board.id} ({self.probe_id or self.port})"


@dataclass(frozen=True)
class Probe:
    """A debug probe that is plugged in (or virtual).

    Attributes:
        unique_id: what `--probe` takes.
        description: vendor and product, for people.
    """

    unique_id: str
    description: str

    @property
    def is_virtual(self) -> bool:
        """Whether it is a virtual board's, and so never the one that hardware hangs on."""
        return self.unique_id.startswith(VIRTUAL_PROBE_PREFIX)


@dataclass(frozen=True)
class SerialPort:
    """A serial port of this machine.

    Attributes:
        path: what `--port` takes.
        description: the adapter's vendor and product, for people.
        serial_number: the adapter's own; empty where it has none, and often not unique.
    """

    path: str
    description: str
    serial_number: str
