"""Units of virtual boards: one that runs already, or a private one for as long as it is needed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from harness.domain.board import Board
from harness.domain.dut import Dut
from harness.errors import BoardFileError, ProbeError, StorageError, WrongDeviceError
from harness.files import locks
from harness.files.folders import cache_folder
from harness.ports import Flasher, Transport
from harness.virtual import launcher, registry
from harness.virtual.machines import MACHINES
from harness.virtual.posix import require_posix

_SLOTS = 64
"""How many private boards of one kind may run at a time."""


class VirtualUnits:
    """Finds the virtual board that was asked for, or starts one of its own.

    Args:
        folder: where the flash of private boards is kept between runs; by default in the user's cache folder.

    Raises:
        PluginError: this system cannot run virtual boards.
    """

    def __init__(self, folder: Path | None = None) -> None:
        require_posix()
        self._folder = folder

    @contextmanager
    def acquire(
        self,
        board: Board,
        probe: str | None,
        port: str | None,
        *,
        flasher: Flasher | None = None,
        transport: Transport | None = None,
    ) -> Iterator[Dut]:
        """The unit to work with; a private one ends with the context.

        Args:
            board: which kind.
            probe: name or probe id of a running virtual board; None starts a private one.
            port: another serial port than the board's own, such as a tunnel to it.
            flasher: not asked; a virtual board tells of its probe itself.
            transport: not asked; it tells of its port, too.

        Raises:
            ProbeError: no such board is running, or none can be started.
            WrongDeviceError: it is of another kind.
            BoardFileError: the board file names no machine, or one that is unknown.
        """
        machine = _machine(board)
        if probe is not None:
            entry = _running(probe, machine)
            yield Dut(board, entry.probe_id, port or entry.port)
            return
        with self._slot(board) as (slot, flash_file):
            name = f"{machine}-{os.getpid()}-{slot}"
            with launcher.start(machine, name, flash_file) as started:
                yield Dut(board, started.probe_id, port or started.port)

    @contextmanager
    def _slot(self, board: Board) -> Iterator[tuple[int, Path]]:
        """A flash file that no other run uses: the first one that is free, so that it likely holds the firmware."""
        folder = _made(self._folder or cache_folder() / "virtual")
        with ExitStack() as claim:
            for slot in range(_SLOTS):
                path = folder / f"{board.id}-{slot}.flash"
                try:
                    claim.enter_context(locks.hold(str(path), ProbeError))
                except ProbeError:
                    continue
                yield slot, path
                return
        raise ProbeError(
            "too many virtual boards of this kind", where=board.id, measured=_SLOTS, hint="wait for other runs to end"
        )


def _machine(board: Board) -> str:
    if board.machine is None or board.machine not in MACHINES:
        raise BoardFileError(
            "a virtual board needs a machine that can be emulated",
            where=f"{board.id}: machine",
            measured=board.machine,
            expected=f"one of {', '.join(MACHINES)}",
        )
    return board.machine


def _running(probe: str, machine: str) -> registry.Entry:
    name = probe.removeprefix(registry.PROBE_ID_PREFIX)
    entry = registry.find_by_probe_id(probe) or registry.find(name)
    if entry.machine != machine:
        raise WrongDeviceError(
            "the virtual board is of another kind", where=probe, measured=entry.machine, expected=machine
        )
    return entry


def _made(folder: Path) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError(f"cannot make the folder for virtual flash: {error.strerror}", where=folder) from error
    return folder
