"""Connection to a unit: its probe, its flash and its serial line, connected when they are first needed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass

from harness import plugins
from harness.bench.claims import claim_port, claim_unit
from harness.bench.flash import FLASH_SYMPTOMS, blamed_on_flash
from harness.bench.identity import find_port
from harness.device.serial_log import RecordedLine, SerialLog
from harness.device.talk import Device, patience_for
from harness.domain.board import Board
from harness.domain.dut import Dut
from harness.domain.firmware import FlashPart
from harness.domain.run_options import RunOptions
from harness.errors import BenchError
from harness.ports import Family, Flasher, FlashSession, HaltWatcher, Line


@dataclass(frozen=True)
class HeldUnit:
    """A unit and the probe's connection to it."""

    dut: Dut
    flash: FlashSession


class Connection:
    """The way to one unit.

    Args:
        board: what kind of unit.
        family: the board's.
        flasher: writes and starts the unit.
        options: which unit, when there are several.

    Raises:
        PluginError: units of this kind cannot be had on this system.
    """

    def __init__(self, board: Board, family: Family, flasher: Flasher, options: RunOptions) -> None:
        self._board = board
        self.family = family
        self._flasher = flasher
        self._options = options
        self._units = plugins.unit_source(board.units)
        self._stack = ExitStack()
        self._bench: HeldUnit | None = None
        self._port = ""
        self.serial_log = SerialLog()

    @property
    def dut(self) -> Dut | None:
        """The unit, while there is a connection to it."""
        return self._bench.dut if self._bench else None

    def open(self) -> HeldUnit:
        """Find the unit and connect to it, unless that is already done.

        Raises:
            BenchError: there is no unit, or no way to it.
        """
        if self._bench is None:
            dut = self._stack.enter_context(self._acquired())
            self._stack.enter_context(claim_unit(dut))
            flash = self._stack.enter_context(self._flasher.connect(dut))
            self._bench = HeldUnit(dut, flash)
            self._port = dut.port
        return self._bench

    def _acquired(self) -> AbstractContextManager[Dut]:
        """The unit, from a source that lists with the same plug-ins that will work with it."""
        transport = plugins.transport(self._board.transport)
        probe, port = self._options.probe, self._options.port
        return self._units.acquire(self._board, probe, port, flasher=self._flasher, transport=transport)

    def close(self) -> None:
        """Give unit and probe back."""
        self._bench = None
        self._stack.close()

    @contextmanager
    def talk(self, parts: Sequence[FlashPart]) -> Iterator[Device]:
        """Start the device, and hold its line open.

        Args:
            parts: what its flash holds; when the device says nothing sensible, flash is compared with it.
        """
        flash = self.open().flash
        try:
            with self._device(flash) as device:
                yield device
        except FLASH_SYMPTOMS as error:
            # The line is closed: the flasher may need its port.
            segments = [part.segment for part in parts]
            mapped = self._board.mapped_flash is not None
            raise blamed_on_flash(error, flash, segments, self._port, mapped=mapped) from error

    @contextmanager
    def _device(self, flash: FlashSession) -> Iterator[Device]:
        transport = plugins.transport(self._board.transport)
        if not self._port:
            self._port = find_port(flash, self._board, self.family, transport)
            self._stack.enter_context(claim_port(self._port))

        def open_line() -> Line:
            return RecordedLine(transport.open(self._port, self._board.baud_rate), self.serial_log)

        line = flash.start(open_line)
        try:
            yield Device(
                line,
                lambda: flash.restart(line),
                patience_for(self._board),
                self.family.words,
                is_halted=lambda: _is_halted(flash),
            )
        finally:
            line.close()


def _is_halted(flash: FlashSession) -> bool:
    """Whether the core stands still, as far as the flasher can tell."""
    with suppress(BenchError):  # the silence is what there is to say
        return isinstance(flash, HaltWatcher) and flash.is_halted()
    return False
