from __future__ import annotations

import hashlib
import struct
import zlib

import pytest

from harness.virtual.esp32.faults import Esp32Faults
from harness.virtual.esp32.flash import SpiFlash
from harness.virtual.esp32.memory_map import FLASH_BYTES
from harness.virtual.flash_array import open_flash

pytest.importorskip("esp32_mock_bootloader", reason="esp32-mock-bootloader is not installed")

from harness.virtual.esp32.rom import Loader

SYNC, READ_REG, WRITE_REG, MEM_END = 0x08, 0x0A, 0x09, 0x06
FLASH_BEGIN, FLASH_DATA, FLASH_END = 0x02, 0x03, 0x04
DEFLATE_BEGIN, DEFLATE_DATA, CHANGE_BAUD = 0x10, 0x11, 0x0F
MD5, ERASE_REGION, READ_FLASH, UNKNOWN = 0x13, 0xD1, 0xD2, 0x7F
SPI_USR2, SPI_W0 = 0x3FF42024, 0x3FF42080


@pytest.fixture
def faults():
    return Esp32Faults()


@pytest.fixture
def flash(faults):
    return SpiFlash(open_flash(None, FLASH_BYTES), faults)


@pytest.fixture
def loader(flash, faults):
    return Loader(flash, {0x3FF5A004: 0x11223344}, faults.loader)


def framed(payload: bytes) -> bytes:
    return b"\xc0" + payload.replace(b"\xdb", b"\xdb\xdd").replace(b"\xc0", b"\xdb\xdc") + b"\xc0"


def request(command: int, data: bytes, checksum: int = 0) -> bytes:
    return framed(struct.pack("<BBHI", 0, command, len(data), checksum) + data)


def words(*values: int) -> bytes:
    return struct.pack(f"<{len(values)}I", *values)


def block(command: int, data: bytes, sequence: int = 0) -> bytes:
    checksum = 0xEF
    for byte in data:
        checksum ^= byte
    return request(command, words(len(data), sequence, 0, 0) + data, checksum)


def frames(loader: Loader, sent: bytes) -> list[bytes]:
    """The replies, unframed."""
    received = b"".join(loader.feed(sent))
    return [
        each.replace(b"\xdb\xdc", b"\xc0").replace(b"\xdb\xdd", b"\xdb") for each in received.split(b"\xc0") if each
    ]


def answer(loader: Loader, sent: bytes) -> tuple[int, int]:
    """Value and status of the only reply."""
    (reply,) = frames(loader, sent)
    _, _, size, value = struct.unpack_from("<BBHI", reply)
    assert len(reply) == 8 + size
    return value, reply[8]


def test_a_sync_is_answered_eight_times_however_it_arrives(loader):
    sent = request(SYNC, b"\x07\x07\x12\x20" + b"U" * 32)
    pieces = [frame for byte in sent for frame in frames(loader, bytes([byte]))]
    assert len(pieces) == 8


def test_registers_are_the_boards(loader, faults):
    assert answer(loader, request(READ_REG, words(0x3FF5A004))) == (0x11223344, 0)
    assert answer(loader, request(READ_REG, words(0x40001000))) == (0x00F01D83, 0)
    faults.loader.chip_magic = 0x7C6
    assert answer(loader, request(READ_REG, words(0x40001000))) == (0x7C6, 0)


def test_a_write_erases_first(loader, flash):
    flash.program(0x1000, bytes(4096 * 3))
    data = bytes(range(256)) * 8
    assert answer(loader, request(FLASH_BEGIN, words(len(data), 2, 1024, 0x1000)))[1] == 0
    assert answer(loader, block(FLASH_DATA, data[:1024]))[1] == 0
    assert answer(loader, block(FLASH_DATA, data[1024:], 1))[1] == 0
    assert flash.array[0x1000:0x2000] == data + b"\xff" * 2048
    assert flash.array[0x2000:0x2004] == bytes(4)
    assert loader.blocks == 2


def test_a_compressed_write(loader, flash):
    data = b"compressible " * 1000
    compressed = zlib.compress(data)
    answer(loader, request(DEFLATE_BEGIN, words(len(data), 1, len(compressed), 0x4000)))
    assert answer(loader, block(DEFLATE_DATA, compressed))[1] == 0
    assert flash.array[0x4000 : 0x4000 + len(data)] == data
    (reply,) = frames(loader, request(MD5, words(0x4000, len(data), 0, 0)))
    assert reply[8:40].decode() == hashlib.md5(data, usedforsecurity=False).hexdigest()


def test_a_block_that_was_damaged_on_its_way_is_refused(loader, flash):
    answer(loader, request(FLASH_BEGIN, words(4, 1, 4, 0)))
    damaged = request(FLASH_DATA, words(4, 0, 0, 0) + b"abcd", checksum=1)
    assert answer(loader, damaged)[1] == 1
    assert flash.array[:4] == b"\xff" * 4


@pytest.mark.parametrize("sent", [request(UNKNOWN, b""), request(READ_REG, b""), request(FLASH_BEGIN, b"\1")])
def test_nonsense_is_refused(loader, sent):
    assert answer(loader, sent)[1] == 1


def test_the_speed_changes_behind_the_reply(loader):
    speeds = [loader.baud for _ in loader.feed(request(CHANGE_BAUD, words(460800, 0)))]
    assert loader.baud == 460800
    assert len(speeds) == 1


def test_the_stub_reads_flash_ahead_of_acknowledgements(loader, flash):
    flash.program(0, bytes(range(200)))
    assert frames(loader, request(MEM_END, words(0, 0x400BE000)))[-1] == b"OHAI"
    first = frames(loader, request(READ_FLASH, words(0, 200, 64, 2)))
    assert first[1:] == [bytes(range(64)), bytes(range(64, 128))]
    assert frames(loader, framed(words(64))) == [bytes(range(128, 192))]
    assert frames(loader, framed(words(128))) == [bytes(range(192, 200))]
    assert frames(loader, framed(words(192))) == []
    assert frames(loader, framed(words(200))) == [hashlib.md5(bytes(range(200)), usedforsecurity=False).digest()]


@pytest.mark.parametrize(("flag", "wanted"), [(0, True), (1, False)])
def test_the_end_of_a_write_may_ask_for_a_start(loader, flag, wanted):
    answer(loader, request(FLASH_END, words(flag)))
    assert loader.restart_wanted is wanted


@pytest.mark.parametrize(
    ("command", "data"),
    [
        (FLASH_BEGIN, words(0x2000, 1, 0x2000, 0x1FF000)),
        (DEFLATE_BEGIN, words(0x2000, 1, 0x2000, 0x1FF000)),
        (ERASE_REGION, words(0x1FF000, 0x2000)),
        (MD5, words(0x1FF000, 0x2000, 0, 0)),
    ],
)
def test_what_lies_behind_the_parts_end_is_refused(loader, faults, command, data):
    (done,) = frames(loader, request(command, data))
    assert done[8] != 1 or len(done) > 12
    faults.flash_bytes = 2 << 20
    assert answer(loader, request(command, data))[1] == 1


@pytest.mark.parametrize(("megabytes", "code"), [(2, 0x15), (4, 0x16)])
def test_the_flash_tells_its_size(loader, faults, megabytes, code):
    faults.flash_bytes = megabytes << 20
    answer(loader, request(WRITE_REG, words(SPI_USR2, 0x7000009F, 0xFFFFFFFF, 0)))
    value, _ = answer(loader, request(READ_REG, words(SPI_W0)))
    assert value >> 16 == code


def test_broken_as_told(loader, faults):
    faults.loader.refusals = faults.loader.lost_replies = 1
    begin = request(FLASH_BEGIN, words(0, 0, 0, 0))
    assert answer(loader, begin)[1] == 1
    assert frames(loader, begin) == []
    assert answer(loader, begin)[1] == 0
    faults.loader.silent = True
    assert frames(loader, request(SYNC, b"")) == []
