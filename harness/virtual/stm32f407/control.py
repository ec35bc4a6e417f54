"""What a virtual board can do that no real one can, by JSON commands: inject faults, cut the power, tell its state.

========================  ==================================================================================
command (`do`)            arguments
========================  ==================================================================================
`state`
`power`                   `on`: true or false
`power_cycle`
`clear_faults`
`flash_stuck_bits`        `address`, `mask`: bits of that byte that do not program
`flash_flipped_bits`      `address`, `mask`: bits of that byte that come out wrong after programming
`flash_flip`              `address`, `mask`: turn these bits now, as cells that lose their charge
`flash_busy`              the next erase or program operation never ends
`flash_failing_sector`    `sector`: its erase ends with an error
`write_protect`           `sectors`: a list; these are protected by option bytes, all others are not
`read_protect`            `level`: 0, 1 or 2
`hse_missing`             the crystal does not start
`clock_error`             `percent`: all oscillators are so much too fast
`hang`                    no instruction is executed until the next reset
`resetting`               `after_s`: so long after each reset the next one comes by itself, like a boot loop
`wrong_baud`              `factor`: the device's serial port is so many times too fast
`serial`                  `to`: `device` or `host`; `kind`: drop, duplicate, garble, noise, delay or split; `first`:
                          the first byte concerned, from 0; `count`: how many, null for all; `delay_s`: hold back
                          this byte and all after it for so long (delay), or wait so long between bytes (split)
`link`                    `status`: wait, fault, no_ack or disconnected; `first`: the first transfer that fails,
                          from 1; `count`: how many fail, null for all
========================  ==================================================================================

Each answers with a JSON object: the board's state after it, with the `trouble` that a command had which came later.

A command with `at` waits for a moment, or for several, each counted from the one before:

===========================  ==================================================================================
`at`                         when
===========================  ==================================================================================
`{"transfer": 300}`          before the 300th debug transfer
`{"cycle": 1000000}`         after so many cycles of the core, in this emulation one per instruction
`{"heard": "invoke"}`        when this text has arrived at the device on its serial line
`[{"heard": …}, …]`          one after the other
===========================  ==================================================================================

`{"do": "power", "on": false, "at": {"transfer": 300}}` cuts the power in the middle of a flash operation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from harness.errors import UsageError
from harness.virtual.faults import SERIAL_FAULT_KINDS, SerialFault
from harness.virtual.link import Status
from harness.virtual.stm32f407.chip.flash_controller import SECTOR_BYTES, FlashController
from harness.virtual.stm32f407.chip.machine import Machine
from harness.virtual.stm32f407.chip.memory import FLASH_BYTES, FLASH_START
from harness.virtual.stm32f407.faults import Faults, LinkFault
from harness.virtual.stm32f407.triggers import Triggers, parse

Arguments = Mapping[str, Any]
_ALL_SECTORS_WRITABLE = 0xFFF << 16
_PROTECTION_BYTES = (0xAA, 0x55, 0xCC)


class Control:
    """Carries out commands.

    Args:
        machine: the board.
        faults: what is broken about it.
    """

    def __init__(self, machine: Machine, faults: Faults) -> None:
        self._machine = machine
        self._faults = faults
        self.triggers = Triggers(self._carry_out_later)
        self._trouble = ""
        self._commands: Mapping[str, Callable[[Arguments], None]] = {
            "state": lambda _: None,
            "power": lambda arguments: machine.set_power(bool(arguments["on"])),
            "power_cycle": self._power_cycle,
            "clear_faults": self._clear_faults,
            "flash_stuck_bits": lambda arguments: faults.flash.cells.stuck_bits.update(_bits(arguments)),
            "flash_flipped_bits": lambda arguments: faults.flash.cells.flipped_bits.update(_bits(arguments)),
            "flash_flip": self._flash_flip,
            "flash_busy": self._flash_busy,
            "flash_failing_sector": self._flash_failing_sector,
            "write_protect": lambda arguments: _write_protect(machine.flash, arguments),
            "read_protect": lambda arguments: _read_protect(machine.flash, arguments),
            "hse_missing": self._hse_missing,
            "clock_error": self._clock_error,
            "wrong_baud": self._wrong_baud,
            "hang": self._hang,
            "resetting": self._resetting,
            "serial": self._serial,
            "link": self._link,
        }

    def execute(self, command: Arguments) -> dict[str, object]:
        """Do what `command` says.

        Raises:
            UsageError: no such command, or an argument is missing or wrong.
        """
        word = str(command.get("do"))
        if word not in self._commands:
            raise UsageError("no such command", measured=repr(word), expected=", ".join(sorted(self._commands)))
        try:
            if "at" in command:
                self._wait(command)
            else:
                self._carry_out(command)
        except (KeyError, TypeError, ValueError) as error:
            raise UsageError(f"an argument is missing or wrong: {error!r}", where=word) from error
        return self._machine.state() | {"trouble": self._trouble}

    def _carry_out_later(self, command: Arguments) -> None:
        """Nobody waits for the answer any more: what is wrong with the command is told by the state."""
        try:
            self._carry_out(command)
        except (KeyError, TypeError, ValueError) as error:
            self._trouble = f"{command['do']}: an argument is missing or wrong: {error!r}"

    def _carry_out(self, command: Arguments) -> None:
        self._commands[str(command["do"])](command)

    def _wait(self, command: Arguments) -> None:
        at = command["at"]
        moments = [parse(each) for each in (at if isinstance(at, list) else [at])]
        self.triggers.add(moments, {key: value for key, value in command.items() if key != "at"})

    def _power_cycle(self, _arguments: Arguments) -> None:
        self._machine.set_power(False)
        self._machine.set_power(True)

    def _clear_faults(self, _arguments: Arguments) -> None:
        self._trouble = ""
        self._faults.clear()
        self.triggers.clear()
        _write_protect(self._machine.flash, {"sectors": []})
        _read_protect(self._machine.flash, {"level": 0})

    def _flash_flip(self, arguments: Arguments) -> None:
        for offset, mask in _bits(arguments).items():
            self._machine.flash.flip(offset, mask)

    def _flash_busy(self, _arguments: Arguments) -> None:
        self._faults.flash.busy_stuck = True

    def _flash_failing_sector(self, arguments: Arguments) -> None:
        self._faults.flash.failing_sector = _sector(arguments["sector"])

    def _hse_missing(self, _arguments: Arguments) -> None:
        self._faults.clock.hse_missing = True

    def _clock_error(self, arguments: Arguments) -> None:
        self._faults.clock.error_percent = float(arguments["percent"])

    def _wrong_baud(self, arguments: Arguments) -> None:
        self._faults.clock.baud_factor = float(arguments["factor"])

    def _hang(self, _arguments: Arguments) -> None:
        self._faults.device.hanging = True

    def _resetting(self, arguments: Arguments) -> None:
        self._faults.device.reset_after_s = float(arguments["after_s"])

    def _serial(self, arguments: Arguments) -> None:
        kind = arguments["kind"]
        if kind not in SERIAL_FAULT_KINDS:
            raise ValueError(kind)
        delay_s = float(arguments.get("delay_s", 0.0))
        direction = self._faults.line.towards(arguments["to"])
        direction.inject(SerialFault(kind, int(arguments.get("first", 0)), _count(arguments), delay_s))

    def _link(self, arguments: Arguments) -> None:
        status = Status[str(arguments["status"]).upper()]
        self._faults.link.inject(LinkFault(int(arguments.get("first", 1)), _count(arguments), status))


def _count(arguments: Arguments) -> int | None:
    count = arguments.get("count", 1)
    return None if count is None else int(count)


def _bits(arguments: Arguments) -> dict[int, int]:
    offset = int(arguments["address"]) - FLASH_START
    if offset not in range(FLASH_BYTES):
        raise ValueError("the address is not in flash")
    return {offset: int(arguments["mask"]) & 0xFF}


def _write_protect(flash: FlashController, arguments: Arguments) -> None:
    protected = sum(1 << 16 + _sector(sector) for sector in arguments["sectors"])
    flash.set_options(flash.options() & ~_ALL_SECTORS_WRITABLE | _ALL_SECTORS_WRITABLE & ~protected)


def _read_protect(flash: FlashController, arguments: Arguments) -> None:
    level = int(arguments["level"])
    if level not in range(len(_PROTECTION_BYTES)):
        raise ValueError("no such level")
    flash.set_options(flash.options() & ~0xFF00 | _PROTECTION_BYTES[level] << 8)


def _sector(number: int) -> int:
    if number not in range(len(SECTOR_BYTES)):
        raise ValueError("no such sector")
    return number
