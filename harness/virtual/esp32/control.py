"""What a virtual ESP32 can do that no real one can, by JSON commands: inject faults, press its button, tell its state.

========================  ==================================================================================
command (`do`)            arguments
========================  ==================================================================================
`state`
`press_reset`             the EN button
`clear_faults`
`flash_flip`              `address`: an offset in flash; `mask`: bits of that byte that change now
`flash_flipped_bits`      `address`, `mask`: bits of that byte that come out wrong after programming
`flash_stuck_bits`        `address`, `mask`: bits of that byte that do not program
`no_sync`                 the boot loader answers nothing
`nack`                    `count`: so many commands are refused
`drop_replies`            `count`: so many replies are lost
`wrong_chip`              `magic`: what the chip's magic register reads
`unplug_after`            `blocks`: the adapter is pulled out when so many blocks are written
`strap_ignored`           GPIO0 does not reach the chip: it never waits for a download
`brown_out`               `count`: so many starts end in a brown-out; null for all
`watchdogs_stuck`         the watchdogs that are awake at the start cannot be silenced
`cache`                   `kind`: drom_masked, never_enabled, never_flushed or page_off, from the next start on
`cache_start`             `ctrl`, `ctrl1`: what these registers of the flash cache hold from the next start on
`flash_size`              `megabytes`: how large the flash is; the chip's own size at most, a power of two
`serial`                  `to`: `device` or `host`; `kind`: drop, duplicate, garble or noise; `first`: the first
                          byte concerned, from 0; `count`: how many, null for all
========================  ==================================================================================

Each answers with a JSON object: the board's state after it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from harness.errors import UsageError
from harness.virtual.esp32.faults import Esp32Faults
from harness.virtual.esp32.flash import SpiFlash
from harness.virtual.esp32.flash_cache import CacheFault
from harness.virtual.faults import SERIAL_FAULT_KINDS, SerialFault
from harness.virtual.link import Operation, Request, Response, Status

Arguments = Mapping[str, Any]


class Control:
    """Carries out commands.

    Args:
        flash: the SPI flash.
        faults: what is broken.
        press_reset: pulses EN.
        state: tells the board's state: JSON values only.
    """

    def __init__(
        self,
        flash: SpiFlash,
        faults: Esp32Faults,
        press_reset: Callable[[], None],
        state: Callable[[], dict[str, object]],
    ) -> None:
        self._flash = flash
        self._faults = faults
        self._state = state
        self._commands: Mapping[str, Callable[[Arguments], object]] = {
            "state": lambda _: None,
            "press_reset": lambda _: press_reset(),
            "clear_faults": lambda _: faults.clear(),
            "flash_flip": lambda arguments: flash.flip(self._offset(arguments), int(arguments["mask"]) & 0xFF),
            "flash_flipped_bits": lambda arguments: faults.cells.flipped_bits.update(self._bits(arguments)),
            "flash_stuck_bits": lambda arguments: faults.cells.stuck_bits.update(self._bits(arguments)),
            "no_sync": lambda _: setattr(faults.loader, "silent", True),
            "nack": lambda arguments: setattr(faults.loader, "refusals", int(arguments["count"])),
            "drop_replies": lambda arguments: setattr(faults.loader, "lost_replies", int(arguments["count"])),
            "wrong_chip": lambda arguments: setattr(faults.loader, "chip_magic", int(arguments["magic"])),
            "unplug_after": lambda arguments: setattr(faults.loader, "unplug_after_blocks", int(arguments["blocks"])),
            "strap_ignored": lambda _: setattr(faults, "strap_ignored", True),
            "brown_out": lambda arguments: setattr(faults, "brown_outs", _count(arguments)),
            "watchdogs_stuck": lambda _: setattr(faults, "watchdogs_stuck", True),
            "cache": lambda arguments: setattr(faults, "cache", CacheFault[str(arguments["kind"]).upper()]),
            "cache_start": lambda arguments: setattr(
                faults, "cache_start", (int(arguments["ctrl"]), int(arguments["ctrl1"]))
            ),
            "flash_size": lambda arguments: setattr(faults, "flash_bytes", self._size(arguments)),
            "serial": self._serial,
        }

    def answer(self, request: Request) -> Response:
        """Answer a request of the link; only commands make sense to a board without a debug port."""
        if request.operation is not Operation.CONTROL:
            return Response(Status.BAD_REQUEST, payload=b"this board has no debug port")
        try:
            command = json.loads(request.payload)
            return Response(payload=json.dumps(self.execute(command)).encode())
        except ValueError as error:
            return Response(Status.BAD_REQUEST, payload=f"not JSON: {error}".encode())
        except UsageError as error:
            return Response(Status.BAD_REQUEST, payload=str(error).replace("\n", "; ").encode())

    def execute(self, command: Arguments) -> dict[str, object]:
        """Do what `command` says.

        Raises:
            UsageError: no such command, or an argument is missing or wrong.
        """
        word = str(command.get("do")) if isinstance(command, dict) else repr(command)
        if word not in self._commands:
            raise UsageError("no such command", measured=repr(word), expected=", ".join(sorted(self._commands)))
        try:
            self._commands[word](command)
        except (KeyError, TypeError, ValueError) as error:
            raise UsageError(f"an argument is missing or wrong: {error!r}", where=word) from error
        return self._state()

    def _offset(self, arguments: Arguments) -> int:
        offset = int(arguments["address"])
        if offset not in range(len(self._flash.array)):
            raise ValueError("the address is not in flash")
        return offset

    def _size(self, arguments: Arguments) -> int:
        size_bytes = int(arguments["megabytes"]) << 20
        if size_bytes <= 0 or size_bytes & (size_bytes - 1) or size_bytes > len(self._flash.array):
            raise ValueError("no size of a flash")
        return size_bytes

    def _bits(self, arguments: Arguments) -> dict[int, int]:
        return {self._offset(arguments): int(arguments["mask"]) & 0xFF}

    def _serial(self, arguments: Arguments) -> None:
        kind = arguments["kind"]
        if kind not in SERIAL_FAULT_KINDS:
            raise ValueError(kind)
        direction = self._faults.line.towards(arguments["to"])
        direction.inject(SerialFault(kind, int(arguments.get("first", 0)), _count(arguments)))


def _count(arguments: Arguments) -> int | None:
    count = arguments.get("count", 1)
    return None if count is None else int(count)
