"""Units on the desk: one debug probe and one serial port, found or chosen."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from harness.domain.board import Board
from harness.domain.dut import Dut
from harness.errors import ProbeError, SerialPortError
from harness.ports import Flasher, Transport


class AttachedUnits:
    """Finds the one unit that is plugged in. Where there are several, the user has to choose."""

    @contextmanager
    def acquire(
        self, board: Board, probe: str | None, port: str | None, *, flasher: Flasher, transport: Transport
    ) -> Iterator[Dut]:
        """The unit to work with.

        Args:
            board: which kind.
            probe: the probe's unique id, when there are several.
            port: the serial port, when there are several.
            flasher: lists the probes.
            transport: lists the ports.

        Raises:
            ProbeError, SerialPortError: none found, or several: the error lists them. Of several ports a probe can
                find the right one later: then the port is left empty.
        """
        yield Dut(board, probe or _only_probe(board, flasher), port or _only_port(board, flasher, transport))


def _only_probe(board: Board, flasher: Flasher) -> str:
    if not flasher.uses_probe:
        return ""
    found = [each for each in flasher.probes() if not each.is_virtual]
    if len(found) == 1:
        return found[0].unique_id
    raise ProbeError(
        "several debug probes" if found else "no debug probe",
        where=board.id,
        measured=", ".join(f"{each.unique_id} ({each.description})" for each in found) or None,
        hint="choose one with --probe"
        if found
        else "check the USB cable (some only charge), and the udev rule that `harness doctor --udev` prints",
    )


def _only_port(board: Board, flasher: Flasher, transport: Transport) -> str:
    found = transport.ports()
    if len(found) == 1:
        return found[0].path
    if found and flasher.uses_probe:
        return ""
    raise SerialPortError(
        "several serial ports" if found else "no serial port",
        where=board.id,
        measured=", ".join(f"{each.path} ({each.description})" for each in found) or None,
        hint="choose one with --port" if found else "plug in the board's serial adapter, or name a port with --port",
    )
