"""Which unit it is: by the id in its chip, as probe and firmware tell it, never by a port's name."""

from __future__ import annotations

from contextlib import ExitStack

from harness.bench.claims import claim_port
from harness.device.talk import Device, Patience
from harness.domain.board import Board
from harness.errors import HarnessError, SerialPortError
from harness.ports import Family, FlashSession, Transport

_PATIENCE = Patience(boot_s=2.0)


def read_unit_id(flash: FlashSession, family: Family) -> str | None:
    """The id of the chip that a probe holds, in hex, as its firmware says it too; None where it cannot be read.

    Raises:
        FlashError, ProbeError: the chip does not let it be read.
    """
    region = family.unit_id
    return None if region is None else flash.read(region.start, region.size_bytes).hex()


def find_port(flash: FlashSession, board: Board, family: Family, transport: Transport) -> str:
    """The port of the chip that a probe holds: the one at which it says hello when the probe restarts it.

    Args:
        flash: the probe's connection; harness's firmware lies in the chip.
        board: its kind.
        family: the board's.
        transport: lists and opens the ports.

    Raises:
        SerialPortError: it is none of them: the error lists what each said.
        FlashError, ProbeError: there is no way to the chip.
    """
    wanted = read_unit_id(flash, family)
    said = {}
    for port in [each.path for each in transport.ports()]:
        unit = _unit_at(port, flash, board, family, transport)
        if wanted is not None and unit == wanted:
            return port
        said[port] = unit
    raise SerialPortError(
        "no serial port is this unit's",
        where=f"{board.id} {wanted or ''}".strip(),
        measured="; ".join(f"{port}: {words}" for port, words in said.items()) or "no ports",
        hint="check the TX and RX wires, or choose one with --port",
    )


def _unit_at(port: str, flash: FlashSession, board: Board, family: Family, transport: Transport) -> str:
    """The unit that says hello at a port after a restart; in words, when none does."""
    with ExitStack() as held:
        try:
            held.enter_context(claim_port(port))
            line = flash.start(lambda: transport.open(port, board.baud_rate))
        except SerialPortError as error:
            return error.what
        held.callback(line.close)
        try:
            return Device(line, lambda: flash.restart(line), _PATIENCE, family.words).await_boot().unit
        except HarnessError as error:
            return error.what
