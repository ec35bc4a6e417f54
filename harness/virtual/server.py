"""The process of one virtual board: `python -m harness.virtual.server --machine stm32f407 --name NAME`.

When it is ready it writes its registry entry, one line of JSON, to its standard output. It ends on SIGTERM, and,
unless `--daemon` is given, when the pipe that is its standard input is closed, as the kernel does when its parent ends.
When it cannot start, its standard error says why, and its exit status is that of the error.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Protocol

from harness.errors import HarnessError, PluginError
from harness.virtual import registry
from harness.virtual.faults import Faults
from harness.virtual.flash_array import open_flash
from harness.virtual.stm32f407.serial_line import SerialLine

MACHINES = ("stm32f407", "esp32")


class Life(Protocol):
    """A board, from power-up until its process is told to end."""

    def end_when_closed(self, descriptor: int) -> None:
        """End when the other side of a pipe is closed."""

    def run(self) -> None:
        """Be the board."""

    def close(self) -> None:
        """Hang up everywhere."""


def main(arguments: Sequence[str]) -> int:
    """Be a virtual board until told to end."""
    options = _options(arguments)
    try:
        _serve(options)
    except HarnessError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_code
    return 0


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="harness.virtual.server", description="The process of one virtual board.")
    parser.add_argument("--machine", choices=MACHINES, required=True)
    parser.add_argument("--name", required=True)
    parser.add_argument("--flash-file", type=Path, help="keeps the flash's content; in memory only without it")
    parser.add_argument("--private", action="store_true", help="show it in no list")
    parser.add_argument("--daemon", action="store_true", help="outlive the parent")
    return parser.parse_args(arguments)


def _serve(options: argparse.Namespace) -> None:
    announcement = registry.Announcement(options.name)
    try:
        life, port = _BOARDS[options.machine](options)
        if not options.daemon:
            life.end_when_closed(sys.stdin.fileno())
        _announce(announcement, options, port)
        life.run()
        life.close()
    finally:
        announcement.withdraw()


def _stm32f407(options: argparse.Namespace) -> tuple[Life, str]:
    try:
        from harness.virtual.stm32f407.chip.machine import Machine  # noqa: PLC0415
        from harness.virtual.stm32f407.chip.memory import FLASH_BYTES  # noqa: PLC0415
        from harness.virtual.stm32f407.event_loop import EventLoop  # noqa: PLC0415 - the emulator is an optional extra
    except ImportError as error:
        raise _missing_emulator(error) from error
    faults = Faults()
    line = SerialLine(faults)
    machine = Machine(options.name, open_flash(options.flash_file, FLASH_BYTES), line, faults)
    return EventLoop(machine, line, faults, registry.socket_path(options.name)), line.port


def _esp32(options: argparse.Namespace) -> tuple[Life, str]:
    try:
        from harness.virtual.esp32.board import Board  # noqa: PLC0415
        from harness.virtual.esp32.memory_map import FLASH_BYTES  # noqa: PLC0415
    except ImportError as error:
        raise _missing_emulator(error) from error
    board = Board(options.name, open_flash(options.flash_file, FLASH_BYTES), registry.socket_path(options.name))
    return board, board.port


def _missing_emulator(error: ImportError) -> PluginError:
    return PluginError(f"virtual boards need the emulator: {error}", hint="pip install 'harness[virtual]'")


_BOARDS = {"stm32f407": _stm32f407, "esp32": _esp32}
"""Each makes a board that is powered up, and says which serial port it has."""


def _announce(announcement: registry.Announcement, options: argparse.Namespace, port: str) -> None:
    """Tell the registry and the parent that the board is ready."""
    socket = str(registry.socket_path(options.name))
    entry = registry.Entry(options.name, options.machine, os.getpid(), socket, port, options.private)
    announcement.publish(entry)
    sys.stdout.write(json.dumps(asdict(entry)) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
