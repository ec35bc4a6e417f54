"""A chip that waits for esptool's commands. Runs in the worker process.

esptool 4 and 5 are both served: what is used here is the same in them, but for the spelling of the reset.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import esptool
from esptool.cmds import DETECTED_FLASH_SIZES, detect_chip
from esptool.loader import timeout_per_mb
from esptool.util import flash_size_bytes

from harness.domain.firmware import FlashSegment
from harness.errors import FlashError, HarnessError, WrongDeviceError
from harness.flashers.esptool.faults import explained
from harness.flashers.esptool.port import open_port

_RESET = "default-reset" if int(esptool.__version__.partition(".")[0]) >= 5 else "default_reset"
_CHIP_NAMES = {"esp32": "ESP32"}
_CONNECT_BAUD_RATE = 115200
_FLASH_BAUD_RATE = 460800
"""The most that all usual serial bridges, also those on boards, do without errors (esptool's own default)."""
_CONNECT_ATTEMPTS = 3
_MEGABYTE = 1 << 20
_SECTOR_BYTES = 4096
_WRITE_SECONDS_PER_MB = 40.0


@dataclass(frozen=True)
class Wanted:
    """What chip it must be.

    Attributes:
        target: which kind, as the board file calls it.
        flash_bytes: how large its flash must be at least.
        mac: its MAC address; None when any will do.
    """

    target: str
    flash_bytes: int
    mac: str | None


class Chip:
    """The chip behind a port, running esptool's helper program.

    Args:
        port_name: device path or URL.
        wanted: what chip it must be.

    Attributes:
        mac: its MAC address.

    Raises:
        SerialPortError: the port cannot be opened.
        ProbeError: the chip does not answer.
        WrongDeviceError: it is another, or has less flash.
    """

    def __init__(self, port_name: str, wanted: Wanted) -> None:
        self._where = port_name
        self._claims = ExitStack()
        try:
            port = open_port(port_name, self._claims)
            with explained("connecting", port_name):
                chip = detect_chip(port, _CONNECT_BAUD_RATE, _RESET, connect_attempts=_CONNECT_ATTEMPTS)
                self.mac = ":".join(f"{byte:02x}" for byte in chip.read_mac())
                self._check(chip.CHIP_NAME, wanted)
                self._loader: Any = chip.run_stub()
                self._loader.change_baud(_FLASH_BAUD_RATE)
                self._loader.flash_spi_attach(0)
                self._loader.flash_set_parameters(self._flash_bytes(wanted.flash_bytes))
        except BaseException:
            self.close()
            raise

    def restart(self) -> None:
        """Start what is in flash."""
        with explained("restarting", self._where):
            self._loader.hard_reset()

    def close(self) -> None:
        """Give the port back."""
        with explained("disconnecting", self._where):
            self._claims.close()

    def read(self, address: int, size_bytes: int) -> bytes:
        """Read flash.

        Raises:
            FlashError: the chip refuses.
            ProbeError: it does not answer.
        """
        with explained("reading", self._where):
            return bytes(self._loader.read_flash(address, size_bytes))

    def write(self, address: int, data: bytes, report: Callable[[float], None]) -> None:
        """Erase, program, and compare checksums; what lies last is erased first.

        Args:
            address: where in flash.
            data: what.
            report: told the part that is done.

        Raises:
            FlashError: the chip refuses, or other bytes read back (address, found, expected).
            ProbeError: it does not answer.
        """
        with explained("writing", self._where):
            self._program(address, data, report)
            found = self._loader.flash_md5sum(address, len(data))
        if found != hashlib.md5(data).hexdigest():  # noqa: S324 - the checksum that the chip computes
            raise self._difference(FlashSegment(address, data))

    def _program(self, address: int, data: bytes, report: Callable[[float], None]) -> None:
        packed = zlib.compress(data, 9)
        loader, block_bytes = self._loader, self._loader.FLASH_WRITE_SIZE
        loader.erase_region((address + len(data) - 1) // _SECTOR_BYTES * _SECTOR_BYTES, _SECTOR_BYTES)
        blocks = loader.flash_defl_begin(len(data), len(packed), address)
        timeout = timeout_per_mb(_WRITE_SECONDS_PER_MB, len(data))
        for number in range(blocks):
            loader.flash_defl_block(packed[number * block_bytes : (number + 1) * block_bytes], number, timeout=timeout)
            report((number + 1) / blocks)

    def _difference(self, wanted: FlashSegment) -> HarnessError:
        found = self.read(wanted.address, len(wanted.data))
        address = wanted.first_difference(found)
        if address is None:
            return FlashError("the chip's checksum of its flash is wrong", where=self._where, hint="run again")
        offset = address - wanted.address
        return FlashError(
            "the flash does not hold what was written",
            where=f"{address:#010x}",
            measured=f"{found[offset]:#04x}",
            expected=f"{wanted.data[offset]:#04x}",
            hint="run again; if that does not help, the flash is worn or its supply too weak",
        )

    def _flash_bytes(self, wanted: int) -> int:
        """How large the flash says that it is; where it says nothing that esptool knows, as large as wanted."""
        named = DETECTED_FLASH_SIZES.get(self._loader.flash_id() >> 16)
        found = flash_size_bytes(named) if named else wanted
        if found < wanted:
            raise WrongDeviceError(
                "the chip's flash is smaller than the board file says",
                where=self._where,
                measured=f"{found / _MEGABYTE:g} MB",
                expected=f"at least {wanted / _MEGABYTE:g} MB, which its regions take",
                hint="choose the board for this flash, such as --board esp32-devkitc-2mb, or write a board file with "
                "a smaller flash.model",
            )
        return int(found)

    def _check(self, found: str, wanted: Wanted) -> None:
        expected = _CHIP_NAMES.get(wanted.target, wanted.target)
        if found != expected:
            raise WrongDeviceError(
                "another chip than the board's",
                where=self._where,
                measured=found,
                expected=expected,
                hint="choose the board's own port with --port, or the chip's own board with --board",
            )
        if wanted.mac is not None and self.mac != wanted.mac:
            raise WrongDeviceError(
                "another chip than before behind this port",
                where=self._where,
                measured=self.mac,
                expected=wanted.mac,
            )
