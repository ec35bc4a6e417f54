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

from harness.errors import HarnessError, PluginError
from harness.virtual import registry
from harness.virtual.faults import Faults
from harness.virtual.serial_line import SerialLine

MACHINES = ("stm32f407",)


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
    try:
        from harness.virtual.event_loop import EventLoop  # noqa: PLC0415 - the emulator is an optional extra
        from harness.virtual.stm32f407 import memory  # noqa: PLC0415
        from harness.virtual.stm32f407.machine import Machine  # noqa: PLC0415
    except ImportError as error:
        raise PluginError(
            f"virtual boards need the emulator: {error}", hint="pip install 'harness[virtual]'"
        ) from error
    announcement = registry.Announcement(options.name)
    try:
        faults = Faults()
        line = SerialLine(faults)
        machine = Machine(options.name, memory.open_flash(options.flash_file), line, faults)
        loop = EventLoop(machine, line, faults, registry.socket_path(options.name))
        if not options.daemon:
            loop.end_when_closed(sys.stdin.fileno())
        _announce(announcement, options, line.port)
        loop.run()
        loop.close()
    finally:
        announcement.withdraw()


def _announce(announcement: registry.Announcement, options: argparse.Namespace, port: str) -> None:
    """Tell the registry and the parent that the board is ready."""
    socket = str(registry.socket_path(options.name))
    entry = registry.Entry(options.name, options.machine, os.getpid(), socket, port, options.private)
    announcement.publish(entry)
    sys.stdout.write(json.dumps(asdict(entry)) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
