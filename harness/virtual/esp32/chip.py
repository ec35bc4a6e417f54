"""The chip itself: what it does from one reset to the next."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from enum import Enum
from typing import TYPE_CHECKING

from harness.virtual.esp32 import flash_cache, guest, image, memory_map, qemu, resets, shim, uart_clock, watchdogs
from harness.virtual.esp32.faults import Esp32Faults
from harness.virtual.esp32.flash import SpiFlash
from harness.virtual.esp32.qemu import Ended, Happening, Qemu, RegisterWrite, Started, UnhandledException
from harness.virtual.esp32.resets import ResetCause
from harness.virtual.esp32.uart_clock import UartClock
from harness.virtual.esp32.watchdogs import Watchdog

if TYPE_CHECKING:
    from harness.virtual.esp32.rom import Loader

_BROWN_OUT_S = 0.1
_ROM_WATCHDOG_S = 128_000 / 150e3
"""After that, the RTC watchdog ends a start that failed."""
_SOFTWARE_RESETS = {1 << 31: ResetCause.SOFTWARE, 1 << 5: ResetCause.SOFTWARE_CPU}
_EFUSE_REVISION = {0x3FF5A00C: 1 << 15 | 1 << 9, 0x3FF5A014: 1 << 20, 0x3FF6607C: 1 << 31}
"""Chip revision 3, package ESP32-D0WD (esptool's targets/esp32.py reads them so)."""


class Mode(Enum):
    """What the chip is doing."""

    HELD = "held in reset"
    DOWNLOAD = "waiting for a download"
    RUNNING = "running"
    FAILED = "start failed"


class Chip:
    """An ESP32 with its flash.

    Args:
        name: from which its MAC address is made.
        flash: the SPI flash.
        faults: what is broken.
        send: puts bytes on the serial line at a speed in bits per second.

    Raises:
        ToolchainError: there is no emulator, or no assembler for what runs below the firmware.
        StorageError: the cache folder cannot be written.

    Attributes:
        mode: what it is doing.
        cause: why it was reset last.
        trouble: why the last start failed, or what the firmware ran into; empty when all is well.
    """

    def __init__(self, name: str, flash: SpiFlash, faults: Esp32Faults, send: Callable[[bytes, float], None]) -> None:
        self.mac = b"\x24\x0a\xc4" + hashlib.sha256(name.encode()).digest()[:3]
        self._flash = flash
        self._faults = faults
        self._send = send
        qemu.require()
        self._shim = shim.assembled()
        self.mode = Mode.HELD
        self.cause = ResetCause.POWER_ON
        self.trouble = ""
        self.core: Qemu | None = None
        self._loader: Loader | None = None
        self._clock = UartClock()
        self._watchdogs: tuple[Watchdog, ...] = ()
        self._resets_at: tuple[float, ResetCause] | None = None

    @property
    def baud(self) -> float:
        """What it listens and talks at, in bits per second."""
        return self._loader.baud if self._loader is not None else self._clock.baud

    def hold(self) -> None:
        """EN is low: nothing runs."""
        if self.core is not None:
            self.core.stop()
        self.core = self._loader = None
        self._watchdogs = ()
        self._resets_at = None
        self.mode = Mode.HELD

    def start(self, cause: ResetCause, *, download: bool) -> None:
        """Come out of reset.

        Args:
            cause: why it was in reset.
            download: whether GPIO0 is low.
        """
        self.hold()
        self.cause, self.trouble = cause, ""
        self._clock = UartClock()
        download = download and not self._faults.strap_ignored
        self._say(resets.banner(cause, download=download))
        if self._faults.take_brown_out():
            self._fail("the supply voltage is too low", _BROWN_OUT_S, ResetCause.BROWN_OUT)
        elif download:
            self._wait_for_download()
        else:
            self._start_from_flash()

    def receive(self, data: bytes) -> None:
        """Bytes have arrived on the serial line."""
        if self.core is not None:
            self.core.send(data)
        elif self._loader is not None:
            for reply in self._loader.feed(data):
                self._send(reply, self.baud)
            if self._loader.restart_wanted:
                self.start(ResetCause.SOFTWARE_CPU, download=False)

    @property
    def blocks_written(self) -> int:
        """How many blocks this download session has put into flash."""
        return self._loader.blocks if self._loader is not None else 0

    def attend(self) -> None:
        """See to what the core has to tell."""
        core = self.core
        if core is None:
            return
        for happening in core.happenings():
            self._take(happening)
            if self.core is not core:
                return  # the chip was reset: what else it had to tell is lost

    @property
    def deadline(self) -> float | None:
        """When it resets itself unless something happens, on the clock of `time.monotonic`."""
        due = [bite[0] for bite in self._bites()]
        return min(due) if due else None

    def elapse(self) -> None:
        """Reset if it is time to. What the core had told before counts first."""
        self.attend()
        bites = self._bites()
        if bites and min(bites)[0] <= time.monotonic():
            self.start(min(bites)[1], download=False)

    def _bites(self) -> list[tuple[float, ResetCause]]:
        found = [watchdog.bite() for watchdog in self._watchdogs]
        return [bite for bite in (*found, self._resets_at) if bite is not None]

    def _wait_for_download(self) -> None:
        from harness.virtual.esp32.rom import Loader  # noqa: PLC0415 - takes a third of a second to import

        self._loader = Loader(self._flash, self._registers(), self._faults.loader)
        self.mode = Mode.DOWNLOAD

    def _start_from_flash(self) -> None:
        try:
            loaded = image.parse(memoryview(self._flash.array)[: self._flash.size_bytes])
        except image.RefusedImageError as error:
            self._say(f"{error.rom_text}\r\n" * error.repeated)
            self._fail(str(error), _ROM_WATCHDOG_S, ResetCause.RTC_WATCHDOG)
            return
        segments = [(segment.address, len(segment.data)) for segment in loaded.segments]
        self._say(resets.load_log(loaded.spi_mode, segments, loaded.entry))
        contents = bytes(self._flash.array[: self._flash.size_bytes])
        self.core = Qemu(guest.elf(loaded, contents, self._shim, self._registers(), self._faults.cache))
        self.mode = Mode.RUNNING

    def _take(self, happening: Happening) -> None:
        if isinstance(happening, bytes):
            self._send(happening, self.baud)
        elif isinstance(happening, Started):
            self._watchdogs = tuple(Watchdog(kind, time.monotonic()) for kind in watchdogs.KINDS)
        elif isinstance(happening, RegisterWrite):
            self._write(happening)
        elif isinstance(happening, Ended):
            self.hold()
            self.mode, self.trouble = Mode.FAILED, "the emulator has ended"
        else:
            self._report(happening)

    def _write(self, write: RegisterWrite) -> None:
        self._clock.write(write.address, write.value)
        if not self._faults.watchdogs_stuck:
            for watchdog in self._watchdogs:
                watchdog.write(write.address, write.value, time.monotonic())
        if write.address == memory_map.RTC_OPTIONS0:
            cause = next((cause for bit, cause in _SOFTWARE_RESETS.items() if write.value & bit), None)
            if cause is not None:
                self.start(cause, download=False)

    def _report(self, exception: UnhandledException) -> None:
        """What the ROM's own exception vectors print."""
        self.trouble = f"exception {exception.cause} at {exception.pc:#010x}, address {exception.address:#010x}"
        self._say(
            f"Fatal exception ({exception.cause}): \r\n"
            f"epc1=0x{exception.pc:08x}, excvaddr=0x{exception.address:08x}\r\n"
        )

    def _fail(self, trouble: str, seconds: float, cause: ResetCause) -> None:
        self.trouble = trouble
        self._resets_at = time.monotonic() + seconds, cause
        self.mode = Mode.FAILED

    def _say(self, text: str) -> None:
        self._send(text.encode(), uart_clock.ROM_BAUD)

    def _registers(self) -> dict[int, int]:
        """What peripheral registers hold after this reset."""
        high, low = int.from_bytes(self.mac[:2], "big"), int.from_bytes(self.mac[2:], "big")
        return {
            **_EFUSE_REVISION,
            **uart_clock.INITIAL_REGISTERS,
            **watchdogs.INITIAL_REGISTERS,
            **flash_cache.initial_registers(*self._faults.cache_start or ()),
            memory_map.RTC_RESET_STATE: self.cause | self.cause << 6,
            memory_map.EFUSE_MAC_LOW: low,
            memory_map.EFUSE_MAC_HIGH: high | _mac_crc(self.mac) << 16,
        }


def _mac_crc(mac: bytes) -> int:
    """CRC-8 with polynomial 0x31, bits reversed, as the efuse holds it beside the MAC."""
    crc = 0
    for byte in mac:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x8C if crc & 1 else 0)
    return crc
