"""Units on the desk: one debug probe and one serial port, found or chosen."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from harness import plugins
from harness.domain.board import Board
from harness.domain.dut import Dut
from harness.errors import ProbeError, SerialPortError
from harness.ports import Flasher, Transport


class AttachedUnits:
    """Finds the one unit that is plugged in. Where there are several, the user has to choose.

    Args:
        flasher: lists the probes; by default the board's own.
        transport: lists the ports; by default the board's own.
    """

    def __init__(self, flasher: Flasher | None = None, transport: Transport | None = None) -> None:
        self._flasher = flasher
        self._transport = transport

    @contextmanager
    def acquire(self, board: Board, probe: str | None, port: str | None) -> Iterator[Dut]:
        """The unit to work with.

        Args:
            board: which kind.
            probe: the probe's unique id, when there are several.
            port: the serial port, when there are several.

        Raises:
            ProbeError, SerialPortError: none found, or several: the error lists them. Of several ports a probe can
                find the right one later: then the port is left empty.
        """
        yield Dut(board, probe or self._only_probe(board), port or self._only_port(board))

    def _only_probe(self, board: Board) -> str:
        flasher = self._flasher or plugins.flasher(board.flasher)
        if not flasher.uses_probe:
            return ""
        listed = flasher.probes()
        found = [each for each in listed if not each.is_virtual]
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

    def _uses_probe(self, board: Board) -> bool:
        return (self._flasher or plugins.flasher(board.flasher)).uses_probe

    def _only_port(self, board: Board) -> str:
        found = (self._transport or plugins.transport(board.transport)).ports()
        if len(found) == 1:
            return found[0].path
        if found and self._uses_probe(board):
            return ""
        raise SerialPortError(
            "several serial ports" if found else "no serial port",
            where=board.id,
            measured=", ".join(f"{each.path} ({each.description})" for each in found) or None,
            hint="choose one with --port"
            if found
            else "plug in the board's serial adapter, or name a port with --port",
        )
