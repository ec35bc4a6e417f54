"""Launcher of virtual boards, as children that end with this process or as daemons, which it also stops."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import IO

from harness.errors import DeadlineError, ProbeError
from harness.virtual import registry
from harness.virtual.posix import require_posix
from harness.virtual.registry import Entry

_READY_DEADLINE_S = 20.0
_STOP_DEADLINE_S = 5.0


class VirtualBoard:
    """A running virtual board that belongs to this process, and ends with it.

    Attributes:
        entry: its registry entry.
        process: its process.
    """

    def __init__(self, entry: Entry, process: subprocess.Popen[bytes]) -> None:
        self.entry = entry
        self.process = process

    @property
    def name(self) -> str:
        """Its name."""
        return self.entry.name

    @property
    def probe_id(self) -> str:
        """The unique id of its debug probe."""
        return self.entry.probe_id

    @property
    def port(self) -> str:
        """Its serial port."""
        return self.entry.port

    @property
    def socket(self) -> Path:
        """Where its link listens."""
        return Path(self.entry.socket)

    def __enter__(self) -> VirtualBoard:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.stop()

    def stop(self) -> None:
        """End it."""
        _end(self.process)


def start(machine: str, name: str, flash_file: Path | None = None, *, private: bool = True) -> VirtualBoard:
    """Start a board as a child of this process.

    Args:
        machine: what to emulate, for example `stm32f407`.
        name: unique among this user's boards.
        flash_file: keeps the flash's content; in memory only when None.
        private: show it in no list.

    Raises:
        ProbeError: it did not start; the message says why.
        DeadlineError: it did not get ready.
    """
    command = _command(machine, name, flash_file)
    return VirtualBoard(*_launch([*command, "--private"] if private else command, stdin=subprocess.PIPE))


def start_daemon(machine: str, name: str, flash_file: Path | None = None) -> Entry:
    """Start a board that runs until it is stopped by name.

    Args:
        machine: what to emulate, for example `stm32f407`.
        name: unique among this user's boards.
        flash_file: keeps the flash's content; in memory only when None.

    Raises:
        ProbeError: it did not start; the message says why.
        DeadlineError: it did not get ready.
    """
    require_posix()
    entry, process = _launch([*_command(machine, name, flash_file), "--daemon"], stdin=subprocess.DEVNULL)
    process.returncode = 0  # nobody will wait for it: it outlives this process
    return entry


def stop_daemon(name: str) -> None:
    """End the running board called `name`.

    Raises:
        ProbeError: there is none.
        DeadlineError: it does not end.
    """
    entry = registry.find(name)
    os.kill(entry.pid, signal.SIGTERM)
    deadline = time.monotonic() + _STOP_DEADLINE_S
    while entry in registry.running(include_private=True):
        if time.monotonic() > deadline:
            raise DeadlineError(
                "the virtual board does not end",
                where=name,
                expected=f"within {_STOP_DEADLINE_S:g} s",
                hint=f"kill -9 {entry.pid}",
            )
        time.sleep(0.01)


def _command(machine: str, name: str, flash_file: Path | None) -> list[str]:
    # -P: modules in the user's current folder must not stand in for the standard library's.
    command = [sys.executable, "-P", "-m", "harness.virtual.server", "--machine", machine, "--name", name]
    if flash_file is not None:
        command += ["--flash-file", str(flash_file.absolute())]
    return command


def _launch(command: list[str], stdin: int) -> tuple[Entry, subprocess.Popen[bytes]]:
    """Start a board's process and wait until it is ready."""
    with tempfile.TemporaryFile() as complaints:
        process = subprocess.Popen(
            command, stdin=stdin, stdout=subprocess.PIPE, stderr=complaints, start_new_session=True
        )
        try:
            announced = _first_line(process)
        except BaseException:
            _end(process)
            raise
        if not announced:
            _end(process)
            raise _failure(complaints)
    return registry.parse(announced), process


def _first_line(process: subprocess.Popen[bytes]) -> bytes:
    """What a board says when it is ready; empty when it ended instead."""
    output = _pipe(process.stdout)
    readable, _, _ = select.select([output], [], [], _READY_DEADLINE_S)
    if not readable:
        raise DeadlineError("the virtual board did not get ready", expected=f"within {_READY_DEADLINE_S:g} s")
    line = output.readline()
    output.close()
    return line


def _failure(complaints: IO[bytes]) -> ProbeError:
    complaints.seek(0)
    reason = complaints.read().decode(errors="replace").strip().splitlines() or ["it said nothing"]
    hint = reason.pop() if reason[-1].startswith("hint: ") else ""
    return ProbeError(f"the virtual board did not start: {' '.join(reason[-2:])}", hint=hint.removeprefix("hint: "))


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a child: by request, then by force."""
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            stream.close()
    process.terminate()
    try:
        process.wait(_STOP_DEADLINE_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _pipe(stream: IO[bytes] | None) -> IO[bytes]:
    if stream is None:
        raise ProbeError("the virtual board has no output pipe")
    return stream
