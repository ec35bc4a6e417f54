"""The boot loader that answers while the chip waits for a download: the ROM's, and esptool's stub once it is loaded.

The protocol is esptool's documentation, "Serial Protocol". Register reads, SPI flash identification and the form of
the answers are esp32-mock-bootloader's; the flash behind it is the board's own, which has to be erased before it is
written. (That package imports esptool, which is GPL: as the emulators, it stays in a virtual board's own process.)
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from esp32_mock_bootloader import server
from esp32_mock_bootloader.protocol import CMD, MOCK_FLASH_ID, ROM_INVALID_MESSAGE

from harness.virtual.esp32.uart_clock import ROM_BAUD

if TYPE_CHECKING:
    from harness.virtual.esp32.faults import LoaderFaults
    from harness.virtual.esp32.flash import SpiFlash

_CHIP = "esp32"
_MAGIC_REGISTER = 0x40001000
_REQUEST = 0
_REQUEST_HEADER = struct.Struct("<BBHI")
_BLOCK_HEADER_BYTES = 16
_END = b"\xc0"
_STAY_IN_LOADER = 1
_DATA_COMMANDS = ("FLASH_DATA", "FLASH_DEFL_DATA")
_NEVER_BROKEN = ("SYNC", "READ_REG", "GET_SECURITY_INFO")


_FLASH_RANGES = {
    "FLASH_BEGIN": (3, 0),
    "FLASH_DEFL_BEGIN": (3, 0),
    "ERASE_REGION": (0, 1),
    "READ_FLASH": (0, 1),
    "SPI_FLASH_MD5": (0, 1),
}
"""Of commands that concern a piece of flash: which of their words are its offset and its size."""


class _SpiPeripheral(server.SpiPeripheralMock):  # type: ignore[misc]  # the package comes without type hints
    """The package's SPI registers; the flash's identification tells the board's own size."""

    def __init__(self, flash: SpiFlash) -> None:
        super().__init__(None)
        self.configure_for_chip(_CHIP)
        self._flash = flash

    def read_reg(self, addr: int) -> int:
        value = int(super().read_reg(addr))
        size_code = self._flash.size_bytes.bit_length() - 1
        return value & 0xFFFF | size_code << 16 if value == MOCK_FLASH_ID else value


class _Flash(server.FlashImage):  # type: ignore[misc]  # the package comes without type hints
    """The package's flash, on the board's own array: a write begins with an erase, and bits only fall."""

    def __init__(self, flash: SpiFlash) -> None:
        self._flash = flash
        self.data = flash.array
        self._defl_offset = self._plain_offset = 0
        self._decompressor = None

    def begin_defl(self, payload: bytes) -> None:
        super().begin_defl(payload)
        self._erase(payload)

    def begin_plain(self, payload: bytes) -> None:
        super().begin_plain(payload)
        self._erase(payload)

    def write_defl_block(self, payload: bytes) -> None:
        data = self._decompressor.decompress(_block(payload)) if self._decompressor else b""
        self._flash.program(self._defl_offset, data)
        self._defl_offset += len(data)

    def write_plain_block(self, payload: bytes) -> None:
        data = _block(payload)
        self._flash.program(self._plain_offset, data)
        self._plain_offset += len(data)

    def holds(self, offset: int, size: int) -> bool:
        """Whether the part is large enough for a piece of flash."""
        return offset + size <= self._flash.size_bytes

    def _erase(self, payload: bytes) -> None:
        size, _, _, offset = struct.unpack_from("<4I", payload)
        if size:
            self._flash.erase(offset, size)


class Loader:
    """One download session, from reset to reset.

    Args:
        flash: the SPI flash.
        registers: what the chip's registers read as, by address.
        faults: what is broken about it.

    Attributes:
        baud: bits per second that it listens and talks at.
        restart_wanted: the host has asked it to start what is in flash.
        blocks: how many blocks it has written to flash.
    """

    def __init__(self, flash: SpiFlash, registers: Mapping[int, int], faults: LoaderFaults) -> None:
        self._faults = faults
        self._flash = _Flash(flash)
        self._session = server.ChipSession(_CHIP)
        self._session.registers.update(registers)
        self._session.spi = _SpiPeripheral(flash)
        self._ram = server.RamImage()
        self._pending = bytearray()
        self._reading: _FlashReader | None = None
        self.baud = self._next_baud = float(ROM_BAUD)
        self.restart_wanted = False
        self.blocks = 0
        self._commands: Mapping[str, Callable[[bytes], bytes]] = {
            "READ_REG": self._read_register,
            "WRITE_REG": lambda data: server.handle_write_reg(data, self._session),
            "GET_SECURITY_INFO": lambda _: server.handle_get_security_info(self._session),
            "READ_FLASH_SLOW": lambda data: server.handle_read_flash_slow(data, self._flash, self._session),
            "SPI_FLASH_MD5": lambda data: self._flash.md5_stub_response(data, stub=self._session.stub_active),
            "SYNC": lambda _: server.make_sync_response(stub=self._session.stub_active) * 8,
            "MEM_END": self._end_memory,
            "READ_FLASH": self._read_flash,
        }
        self._effects: Mapping[str, Callable[[bytes], object]] = {
            "FLASH_BEGIN": self._flash.begin_plain,
            "FLASH_DATA": self._flash.write_plain_block,
            "FLASH_END": self._end_flash,
            "FLASH_DEFL_BEGIN": self._flash.begin_defl,
            "FLASH_DEFL_DATA": self._flash.write_defl_block,
            "FLASH_DEFL_END": self._end_flash,
            "MEM_BEGIN": self._ram.begin,
            "MEM_DATA": self._ram.write_block,
            "SPI_SET_PARAMS": lambda _: None,
            "SPI_ATTACH": lambda _: None,
            "CHANGE_BAUDRATE": self._change_baud,
            "ERASE_FLASH": lambda _: flash.erase(0, len(flash.array)),
            "ERASE_REGION": lambda data: flash.erase(*struct.unpack_from("<2I", data)),
            "RUN_USER_CODE": self._run_user_code,
        }
        self._names = {number: name for name, number in CMD.items()}

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Each reply to what has arrived; `baud` may change behind one."""
        self._pending += data
        while (end := self._pending.find(_END)) >= 0:
            frame = bytes(self._pending[:end]).replace(b"\xdb\xdc", _END).replace(b"\xdb\xdd", b"\xdb")
            del self._pending[: end + 1]
            if frame and not self._faults.silent:
                yield self._answer(frame)
                self.baud = self._next_baud  # the answer still goes out at the old speed

    def _answer(self, frame: bytes) -> bytes:
        if self._reading is not None:
            reply = self._reading.acknowledge(frame)
            self._reading = None if self._reading.done else self._reading
            return reply
        if len(frame) < _REQUEST_HEADER.size or frame[0] != _REQUEST:
            return b""
        _, number, size, checksum = _REQUEST_HEADER.unpack_from(frame)
        data = frame[_REQUEST_HEADER.size : _REQUEST_HEADER.size + size]
        name = self._names.get(number, "")
        if name not in _NEVER_BROKEN and self._faults.refusals:
            self._faults.refusals -= 1
            return self._refuse(number)
        reply = self._obey(name, number, checksum, data)
        if name not in _NEVER_BROKEN and self._faults.lost_replies:
            self._faults.lost_replies -= 1
            return b""
        return reply

    def _obey(self, name: str, number: int, checksum: int, data: bytes) -> bytes:
        try:
            if not server.checksum_valid(number, checksum, data):
                return self._refuse(number)
            if not self._flash.holds(*_range(name, data)):
                return self._refuse(number)
            if name in self._commands:
                return self._commands[name](data)
            if name not in self._effects:
                return self._refuse(number)
            self._effects[name](data)
        except struct.error:
            return self._refuse(number)
        self.blocks += name in _DATA_COMMANDS
        return bytes(server.make_response(number, stub=self._session.stub_active))

    def _refuse(self, number: int) -> bytes:
        stub = self._session.stub_active
        return bytes(server.make_response(number, status=1, error=ROM_INVALID_MESSAGE, stub=stub))

    def _read_register(self, data: bytes) -> bytes:
        (address,) = struct.unpack_from("<I", data)
        if address == _MAGIC_REGISTER and self._faults.chip_magic is not None:
            value = self._faults.chip_magic
            return bytes(server.make_response(CMD["READ_REG"], value=value, stub=self._session.stub_active))
        return bytes(server.handle_read_reg(data, self._session))

    def _end_memory(self, data: bytes) -> bytes:
        """End of a download to RAM: esptool's stub, when the loader is told to jump to it."""
        stay, entry = struct.unpack_from("<2I", data)
        reply = bytes(server.make_response(CMD["MEM_END"], stub=self._session.stub_active))
        if stay or not entry:
            return reply
        self._session.stub_active = True
        return reply + bytes(server.slip_encode(b"OHAI"))

    def _read_flash(self, data: bytes) -> bytes:
        if not self._session.stub_active:
            return self._refuse(CMD["READ_FLASH"])
        offset, size, packet, in_flight = struct.unpack_from("<4I", data)
        self._reading = _FlashReader(self._flash.read(offset, size), packet, in_flight)
        return bytes(server.make_response(CMD["READ_FLASH"], stub=True)) + self._reading.next_packets()

    def _end_flash(self, data: bytes) -> None:
        (flag,) = struct.unpack_from("<I", data)
        self.restart_wanted = flag != _STAY_IN_LOADER

    def _change_baud(self, data: bytes) -> None:
        (self._next_baud,) = (float(value) for value in struct.unpack_from("<I", data))

    def _run_user_code(self, _data: bytes) -> None:
        self.restart_wanted = True


class _FlashReader:
    """The stub's flash read: packets ahead of the host's acknowledgements, and an MD5 at the end.

    Attributes:
        done: everything is sent and acknowledged.
    """

    def __init__(self, data: bytes, packet_bytes: int, in_flight: int) -> None:
        self._data = data
        self._packet_bytes = max(packet_bytes, 1)
        self._window_bytes = self._packet_bytes * max(in_flight, 1)
        self._sent = self._acknowledged = 0
        self.done = False

    def acknowledge(self, frame: bytes) -> bytes:
        """The host has taken so many bytes: what it gets next."""
        self._acknowledged = int.from_bytes(frame[:4], "little")
        if self._acknowledged < len(self._data):
            return self.next_packets()
        self.done = True
        return bytes(server.slip_encode(hashlib.md5(self._data, usedforsecurity=False).digest()))

    def next_packets(self) -> bytes:
        """As many packets as may be on their way."""
        packets = b""
        while self._sent < min(len(self._data), self._acknowledged + self._window_bytes):
            packet = self._data[self._sent : self._sent + self._packet_bytes]
            packets += server.slip_encode(packet)
            self._sent += len(packet)
        return packets


def _range(name: str, data: bytes) -> tuple[int, int]:
    """Offset and size of the flash that a command is about; of none when it is about none."""
    if name not in _FLASH_RANGES:
        return 0, 0
    words = struct.unpack_from("<2I" if name == "ERASE_REGION" else "<4I", data)
    offset, size = _FLASH_RANGES[name]
    return words[offset], words[size]


def _block(payload: bytes) -> bytes:
    (size,) = struct.unpack_from("<I", payload)
    return payload[_BLOCK_HEADER_BYTES : _BLOCK_HEADER_BYTES + size]
