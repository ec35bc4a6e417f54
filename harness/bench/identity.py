"""Which unit it is: by the id in its chip, as probe and firmware tell it, never by a port's name."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from harness.device.talk import Device, Patience
from harness.domain.board import Board, MemoryRegion
from harness.errors import HarnessError, SerialPortError
from harness.ports import FlashSession, Transport

_PATIENCE = Patience(boot_s=2.0)
_UNIT_IDS: Mapping[str, MemoryRegion] = MappingProxyType({"stm32f4": MemoryRegion(0x1FFF_7A10, 12)})
"""Where a family's chips keep their unique id (RM0090 section 39.1)."""


def read_unit_id(flash: FlashSession, board: Board) -> str | None:
    """The id of the chip that a probe holds, in hex, as its firmware says it too; None where it cannot be read.

    Raises:
        FlashError, ProbeError: the chip does not let it be read.
    """
    region = _UNIT_IDS.get(board.family)
    return None if region is None else flash.read(region.start, region.size_bytes).hex()


def find_port(flash: FlashSession, board: Board, transport: Transport) -> str:
    """The port of the chip that a probe holds: the one at which it says hello when the probe restarts it.

    Args:
        flash: the probe's connection; harness's firmware lies in the chip.
        board: its kind.
        transport: lists and opens the ports.

    Raises:
        SerialPortError: it is none of them: the error lists what each said.
        FlashError, ProbeError: there is no way to the chip.
    """
    wanted = read_unit_id(flash, board)
    said = {}
    for port in [each.path for each in transport.ports()]:
        unit = _unit_at(port, flash, board, transport)
        if wanted is not None and unit == wanted:
            return port
        said[port] = unit
    raise SerialPortError(
        "no serial port is this unit's",
        where=f"{board.id} {wanted or ''}".strip(),
        measured="; ".join(f"{port}: {words}" for port, words in said.items()) or "no ports",
        hint="check the TX and RX wires, or choose one with --port",
    )


def _unit_at(port: str, flash: FlashSession, board: Board, transport: Transport) -> str:
    """The unit that says hello at a port after a restart; in words, when none does."""
    try:
        line = flash.start(lambda: transport.open(port, board.baud_rate))
    except SerialPortError as error:
        return error.what
    try:
        return Device(line, lambda: flash.restart(line), _PATIENCE).await_boot().unit
    except HarnessError as error:
        return error.what
    finally:
        line.close()
