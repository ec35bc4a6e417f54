"""What the ESP32's flash is to hold, as the ROM and esptool's own parser see it."""

from __future__ import annotations

import hashlib
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from harness.domain.firmware import FlashSegment
from harness.errors import DoesNotLinkError
from harness.toolchains import elf2image
from harness.toolchains.gcc import Gcc
from harness.virtual.esp32 import image

pytest.importorskip("esptool", reason="the extra `esp32` is not installed")
if shutil.which("xtensa-lx106-elf-objcopy") is None:
    pytest.skip("xtensa-lx106-elf-objcopy is not installed", allow_module_level=True)

CODE = ("loaded_code", 0x40080000, 0x40080000, bytes(range(256)) * 5)
DATA = ("loaded_data", 0x3FFB4800, 0x3FFB4800, b"constants" * 100)
MAPPED_DATA = ("mapped_data", 0x3F720000, 0x3000, b"in place" * 100)
MAPPED_CODE = ("mapped_code", 0x400D0320, 0x3320, b"code in place" * 64)
LATER = ("mapped_data", 0x3F720000, 0x1800, b"reached")

Section = tuple[str, int, int, bytes]


def write_elf(path: Path, sections: list[Section]) -> Path:
    """An ELF file with a segment and a section for each name, address, load address and contents."""
    names = b"\0" + b"".join(f".{name}\0".encode() for name, *_ in sections) + b".names\0"
    offset, name = 52 + 32 * len(sections), 1
    programs, table, contents = b"", bytes(40), b""
    for label, address, loaded_from, data in sections:
        programs += struct.pack("<8I", 1, offset + len(contents), address, loaded_from, len(data), len(data), 7, 4)
        table += struct.pack("<10I", name, 1, 6, address, offset + len(contents), len(data), 0, 0, 4, 0)
        name += len(label) + 2
        contents += data
    names_at = offset + len(contents)
    table += struct.pack("<10I", name, 3, 0, 0, names_at, len(names), 0, 0, 1, 0)
    header = struct.pack(
        "<16sHHIIIIIHHHHHH", b"\x7fELF\1\1\1".ljust(16, b"\0"), 2, 94, 1, CODE[1], 52, names_at + len(names), 0x300,
        52, 32, len(sections), 40, len(sections) + 2, len(sections) + 1,
    )  # fmt: skip
    path.write_bytes(header + programs + contents + names + table)
    return path


def made(tmp_path: Path, *sections: Section) -> FlashSegment:
    return elf2image.make(write_elf(tmp_path / "a.elf", list(sections)), Gcc("", "xtensa-lx106-elf-", "").copy_without)


def in_flash(segment: FlashSegment) -> bytes:
    return bytes(segment.address) + segment.data + bytes(64)


def test_the_rom_and_esptool_accept_what_is_loaded(tmp_path):
    segment = made(tmp_path, DATA, CODE)
    parsed = image.parse(in_flash(segment))
    for found, (_, address, _, contents) in zip(parsed.segments, (DATA, CODE), strict=True):
        assert (found.address, found.data[: len(contents)]) == (address, contents)
    (tmp_path / "a.bin").write_bytes(segment.data)
    command = [sys.executable, "-m", "esptool", "--chip", "esp32", "image-info", tmp_path / "a.bin"]
    said = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout
    assert said.count("(valid)") == 2  # checksum and hash


def test_what_is_read_in_place_lies_where_it_belongs_and_the_rom_does_not_see_it(tmp_path):
    segment = made(tmp_path, MAPPED_DATA, MAPPED_CODE, DATA, CODE)
    flash = in_flash(segment)
    assert [each.address for each in image.parse(flash).segments] == [DATA[1], CODE[1]]
    for _, _, loaded_from, contents in (MAPPED_DATA, MAPPED_CODE):
        assert flash[loaded_from : loaded_from + len(contents)] == contents
    assert segment.end == MAPPED_CODE[2] + len(MAPPED_CODE[3]) + 32


def test_the_end_is_a_hash_of_all_of_it(tmp_path):
    segment = made(tmp_path, MAPPED_DATA, DATA, CODE)
    assert segment.data[-32:] == hashlib.sha256(segment.data[:-32]).digest()


def test_an_image_that_reaches_into_what_is_read_in_place_does_not_link(tmp_path):
    with pytest.raises(DoesNotLinkError, match="RAM") as refusal:
        made(tmp_path, LATER, DATA, CODE)
    assert refusal.value.expected == "at most 2,048"
