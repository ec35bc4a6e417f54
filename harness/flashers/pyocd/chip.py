"""A chip behind a debug probe, by pyOCD's API."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from pyocd.core import exceptions
from pyocd.core.session import Session
from pyocd.core.target import Target
from pyocd.probe.aggregator import DebugProbeAggregator

from harness.domain.dut import Probe
from harness.domain.firmware import FlashSegment
from harness.errors import BoardFileError, FlashError, LockedError, ProbeError, WrongDeviceError
from harness.flashers.pyocd import identity
from harness.flashers.pyocd.faults import explained

Report = Callable[[float], None]
"""Told which part of a piece of work is done, 0 to 1."""

CONNECT_MODES = ("halt", "pre-reset", "under-reset")
"""Those of pyOCD's that leave the chip halted."""

_ERASE_SHARE, _PROGRAM_SHARE = 0.35, 0.5
_WRITE_SHARE = _ERASE_SHARE + _PROGRAM_SHARE
"""Of the time; reading back takes the rest."""
_READ_BACK_BYTES = 16 * 1024
_CORE_REGISTERS = (*(f"r{number}" for number in range(13)), "sp", "lr", "pc", "xpsr", "msp", "psp")
_DFSR, _DFSR_BREAKPOINT = 0xE000ED30, 1 << 1
"""Debug fault status: why a core has halted (DDI 0403 section C1.6.1)."""
_NO_PROTECTION = 0xAA
"""FLASH_OPTCR's RDP field at level 0 (RM0090 section 3.9.10)."""


def connected_probes() -> list[Probe]:
    """What is plugged in, virtual probes included."""
    with explained("looking for probes", "any"):
        found = DebugProbeAggregator.get_all_connected_probes()
        return [Probe(each.unique_id, each.description) for each in found]


class Chip:
    """A chip that a probe is connected to and has halted.

    Args:
        probe_id: the probe's unique id.
        target: pyOCD's name for the chip.
        connect_mode: one of `CONNECT_MODES`.

    Raises:
        ProbeError: no such probe, or the chip does not answer.
        WrongDeviceError: another chip.
        LockedError: read-out protection.
        BoardFileError: no such connect mode or target.
    """

    def __init__(self, probe_id: str, target: str, connect_mode: str) -> None:
        self._probe_id = probe_id
        self._identity = identity.IDENTITIES.get(target)
        with explained("connecting", probe_id):
            self._session = Session(_find_probe(probe_id), options=_options(target, connect_mode))
            try:
                self._session.open()
                self._target = self._session.target
                self._target.set_vector_catch(Target.VectorCatch.NONE)  # faults are the firmware's to report
                self._check_identity()
                self._refuse_locked()
            except BaseException:
                self.close()
                raise

    def close(self) -> None:
        """Let the chip run and give the probe back. Never raises."""
        with suppress(exceptions.Error, OSError):
            self._session.close()

    def reset_and_halt(self) -> None:
        """Reset the chip and stop it before its first instruction."""
        with explained("resetting", self._probe_id):
            self._target.reset_and_halt()

    def resume(self) -> None:
        """Let it run."""
        with explained("starting the chip", self._probe_id):
            self._target.resume()

    def registers(self, mapped: Mapping[str, int]) -> dict[str, int]:
        """Halt the core, and read its registers and those that lie in memory; see `Inspectable.registers`."""
        with explained("reading registers", self._probe_id):
            self._target.halt()
            values = self._target.read_core_registers_raw(list(_CORE_REGISTERS))
            core = dict(zip(_CORE_REGISTERS, values, strict=True))
            return core | {name: self._target.read32(address) for name, address in mapped.items()}

    def is_halted(self) -> bool:
        """Whether a debugger has halted the core, which its program does by a breakpoint only."""
        with explained("looking at the core", self._probe_id):
            if self._target.get_state() is not Target.State.HALTED:
                return False
            return not self._target.read32(_DFSR) & _DFSR_BREAKPOINT

    def read(self, address: int, size_bytes: int) -> bytes:
        """Read memory, by aligned words."""
        with explained(f"reading {size_bytes:,} bytes at {address:#010x}", self._probe_id):
            try:
                return self._read(address, size_bytes)
            except exceptions.TransferFaultError:
                self._refuse_locked()
                raise

    def write(self, address: int, data: bytes, report: Report) -> None:
        """Erase, program, read back and compare; see `FlashSession.write`."""
        with explained(f"writing {len(data):,} bytes at {address:#010x}", self._probe_id):
            self._refuse_locked()
            self._target.reset_and_halt()
            steps = _in_safe_order(self._place(address, data))
            _run(steps, len(data), report)
            self._compare(address, data, report)
            self._target.reset_and_halt()  # the core stands in the flash algorithm, and must not go on there

    def _read(self, address: int, size_bytes: int) -> bytes:
        start = address & ~3
        count = (address + size_bytes - start + 3) // 4
        words = self._target.read_memory_block32(start, count)
        return struct.pack(f"<{count}I", *words)[address - start :][:size_bytes]

    def _place(self, address: int, data: bytes) -> list[_Piece]:
        """The pieces that go through one flash builder each: the first page, then what lies in each flash region."""
        pieces: list[_Piece] = []
        while data:
            region = self._target.memory_map.get_region_for_address(address)
            if region is None or not region.is_flash:
                raise FlashError("there is no flash", where=f"{address:#010x}", hint="correct the board file's [flash]")
            room = region.end + 1 - address
            if not pieces:
                room = region.page_size - address % region.page_size
            builder = region.flash.get_flash_builder()
            builder.add_data(address, data[:room])
            pieces.append(_Piece(builder, region.flash.get_sector_info(address).base_addr, len(data[:room])))
            address, data = address + room, data[room:]
        return pieces

    def _compare(self, address: int, data: bytes, report: Report) -> None:
        """PyOCD trusts the flash controller; a bit that did not take shows only here."""
        for offset in range(0, len(data), _READ_BACK_BYTES):
            written = FlashSegment(address + offset, data[offset : offset + _READ_BACK_BYTES])
            _refuse_difference(written, self._read(written.address, len(written.data)))
            report(_WRITE_SHARE + (1 - _WRITE_SHARE) * offset / len(data))
        report(1.0)

    def _check_identity(self) -> None:
        if self._identity is None:
            return
        found = self._target.read32(self._identity.idcode_address) & 0xFFF
        if found != self._identity.device_id:
            raise WrongDeviceError(
                "another chip than the board's",
                where=f"probe {self._probe_id}",
                measured=f"device id {found:#05x}",
                expected=f"{self._identity.device_id:#05x}",
                hint="choose the right --board, or the right --probe",
            )

    def _refuse_locked(self) -> None:
        """Taking the protection off would erase the whole chip: that is the user's to decide."""
        if self._identity is None:
            return
        protection = self._target.read32(self._identity.option_address) >> 8 & 0xFF
        if protection != _NO_PROTECTION:
            raise LockedError(
                "the chip's read-out protection is on",
                where=f"probe {self._probe_id}",
                measured=f"RDP {protection:#04x}",
                expected=f"{_NO_PROTECTION:#04x} (level 0)",
                hint="take it off with the vendor's tool; that erases the whole flash",
            )


@dataclass(frozen=True)
class _Piece:
    """Bytes for one flash builder of pyOCD.

    Attributes:
        builder: it holds the bytes.
        sector: where the sector of the first byte starts.
        size_bytes: how many bytes.
    """

    builder: Any
    sector: int
    size_bytes: int


@dataclass(frozen=True)
class _Step:
    """A call that reports its progress, and its share of the whole write per byte."""

    run: Callable[..., Any]
    size_bytes: int
    share: float


def _in_safe_order(pieces: Sequence[_Piece]) -> Iterator[_Step]:
    """Erase the first sector first and program the first page last.

    What says that an image is complete (the firmware's info block, the model's header) stands in the first page. So an
    interrupted write can never leave it in front of an image that is not.
    """
    first, rest = pieces[0], pieces[1:]
    if not rest or rest[0].sector != first.sector:
        yield _Step(_erase(first), first.size_bytes, _ERASE_SHARE)
    for piece in rest:
        yield _Step(_erase(piece), piece.size_bytes, _ERASE_SHARE)
    for piece in (*rest, first):
        yield _Step(piece.builder.program, piece.size_bytes, _PROGRAM_SHARE)


def _erase(piece: _Piece) -> Callable[..., Any]:
    return partial(piece.builder.erase, chip_erase="sector")


def _run(steps: Iterator[_Step], total_bytes: int, report: Report) -> None:
    """PyOCD counts each step from 0 to 1: map them to one scale."""
    done = 0.0
    for step in steps:
        share = step.share * step.size_bytes / total_bytes

        def advance(fraction: float, done: float = done, share: float = share) -> None:
            report(done + fraction * share)

        # smart_flash would leave out pages that it takes for equal; that is decided by their labels, long before this.
        step.run(progress_cb=advance, smart_flash=False, keep_unwritten=False)
        done += share


def _refuse_difference(written: FlashSegment, found: bytes) -> None:
    address = written.first_difference(found)
    if address is None:
        return
    offset = address - written.address
    raise FlashError(
        "other bytes read back than were programmed",
        where=f"{address:#010x}",
        measured=f"{found[offset]:#04x}",
        expected=f"{written.data[offset]:#04x}",
        hint="the flash is worn out, or the supply too low: run again, then try another board",
    )


def _find_probe(probe_id: str) -> Any:  # noqa: ANN401  # pyOCD comes without type hints
    probe = DebugProbeAggregator.get_probe_with_id(probe_id)
    if probe is None:
        names = ", ".join(each.unique_id for each in connected_probes())
        raise ProbeError(
            "no such probe",
            where=f"probe {probe_id}",
            expected=f"one of {names}" if names else None,
            hint="is it plugged in? `harness doctor` lists the probes",
        )
    return probe


def _options(target: str, connect_mode: str) -> dict[str, object]:
    """Session options that leave nothing to the user's own pyOCD configuration."""
    if connect_mode not in CONNECT_MODES:
        raise BoardFileError(
            "unknown connect_mode", where=target, measured=connect_mode, expected=f"one of {', '.join(CONNECT_MODES)}"
        )
    return {
        "target_override": target,
        "no_config": True,
        "project_dir": str(Path(__file__).parent),  # not the user's folder, whose pyocd_user.py would run
        "auto_unlock": False,
        "connect_mode": connect_mode,
        "hide_programming_progress": True,
        "cache.enable_memory": False,  # reading back must read
    }
