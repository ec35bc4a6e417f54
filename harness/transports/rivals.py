"""Which other processes have a serial port open, as far as Linux shows it in `/proc`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_PROC = Path("/proc")
_PSEUDO_TERMINAL_MASTERS = frozenset({"/dev/ptmx", "/dev/pts/ptmx"})


@dataclass(frozen=True)
class Rival:
    """A process that has a port open.

    Attributes:
        name: the process's short name.
        pid: its number.
    """

    name: str
    pid: int

    def __str__(self) -> str:
        return f"{self.name} (process {self.pid})"


def processes_using(device: Path) -> list[Rival]:
    """The other processes that have `device` open; those of other users show for root only.

    The process at the far end of a pseudo-terminal is none: it keeps the near end open too, so that the line
    outlives its clients.
    """
    return [
        Rival(_name(process), int(process.name))
        for process in _other_processes()
        if str(device) in (opened := _open_files(process)) and not opened & _PSEUDO_TERMINAL_MASTERS
    ]


def _other_processes() -> Iterator[Path]:
    if not _PROC.is_dir():
        return
    for process in _PROC.iterdir():
        if process.name.isdigit() and int(process.name) != os.getpid():
            yield process


def _open_files(process: Path) -> set[str]:
    opened: set[str] = set()
    with suppress(OSError):  # it ended meanwhile, or belongs to somebody else
        for descriptor in (process / "fd").iterdir():
            with suppress(OSError):
                opened.add(str(descriptor.readlink()))
    return opened


def _name(process: Path) -> str:
    with suppress(OSError):
        return (process / "comm").read_text(encoding="utf-8", errors="replace").strip()
    return "a process"
