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
from importlib import import_module
from pathlib import Path
from typing import Protocol

from harness.errors import HarnessError, PluginError
from harness.virtual import registry
from harness.virtual.machines import MACHINES


class Life(Protocol):
    """A board, from power-up until its process is told to end."""

    @property
    def port(self) -> str:
        """Its serial port."""

    def end_when_closed(self, descriptor: int) -> None:
        """End when the other side of a pipe is closed."""

    def run(self) -> None:
        """Be the board."""

    def close(self) -> None:
        """Hang up everywhere."""


class PowerUp(Protocol):
    """Makes a board. From then on SIGTERM and SIGINT end it in an orderly way."""

    def __call__(self, name: str, flash_file: Path | None, link_path: Path) -> Life:
        """Make it.

        Args:
            name: from which it makes its unique ids.
            flash_file: keeps the flash's content; in memory only when None.
            link_path: where it listens for its link.

        Raises:
            StorageError: the file cannot be used, or one cannot listen there.
            ToolchainError: a tool of the emulator is missing.
        """


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
        life = _power_up(options.machine)(options.name, options.flash_file, registry.socket_path(options.name))
        if not options.daemon:
            life.end_when_closed(sys.stdin.fileno())
        _announce(announcement, options, life.port)
        life.run()
        life.close()
    finally:
        announcement.withdraw()


def _power_up(machine: str) -> PowerUp:
    try:
        made: PowerUp = import_module(MACHINES[machine].board_module).power_up
    except ImportError as error:
        raise PluginError(
            f"virtual boards need the emulator: {error}", hint="pip install 'harness[virtual]'"
        ) from error
    return made


def _announce(announcement: registry.Announcement, options: argparse.Namespace, port: str) -> None:
    """Tell the registry and the parent that the board is ready."""
    socket = str(registry.socket_path(options.name))
    entry = registry.Entry(options.name, options.machine, os.getpid(), socket, port, options.private)
    announcement.publish(entry)
    sys.stdout.write(json.dumps(asdict(entry)) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
