"""The image with a model in it, as esptool's own parser sees it."""

from __future__ import annotations

import struct
import subprocess
import sys
from pathlib import Path

import pytest

from harness.domain.board import MemoryRegion
from harness.domain.firmware import FirmwareImage, FlashSegment, PackedModel
from harness.errors import BuildError, DoesNotLinkError
from harness.packagers.esp32 import Esp32Packager, add_segment
from harness.toolchains import elf2image
from harness.virtual.esp32 import elf_file, image

pytest.importorskip("esptool", reason="the extra `esp32` is not installed")

CODE = FlashSegment(0x40080000, bytes(range(256)) * 5)
DATA = FlashSegment(0x3FFB4800, b"constants" * 100)
MODEL_REGION = MemoryRegion(0x3FFBB100, 0x1000)


@pytest.fixture(scope="module")
def firmware(tmp_path_factory) -> bytes:
    """An image of two segments, made by esptool."""
    elf = tmp_path_factory.mktemp("image") / "a.elf"
    elf.write_bytes(with_sections(elf_file.encode(CODE.address, [DATA, CODE]), [DATA, CODE]))
    return elf2image.make(elf).data


def with_sections(elf: bytes, segments: list[FlashSegment]) -> bytes:
    """The ELF file with a section for each segment, as esptool wants them."""
    names = b"\0.a\0.names\0"
    table, offset = bytes(40), 52 + 32 * len(segments)
    for segment in segments:
        table += struct.pack("<10I", 1, 1, 6, segment.address, offset, len(segment.data), 0, 0, 4, 0)
        offset += len(segment.data)
    table += struct.pack("<10I", 4, 3, 0, 0, len(elf), len(names), 0, 0, 1, 0)
    header = bytearray(elf[:52])
    struct.pack_into("<I", header, 32, len(elf) + len(names))
    struct.pack_into("<HHH", header, 46, 40, len(segments) + 2, len(segments) + 1)
    return bytes(header) + elf[52:] + names + table


def described(data: bytes) -> FirmwareImage:
    segment = FlashSegment(0x1000, data)
    return FirmwareImage("0" * 16, "a-board", "2020-07", "", "", segment, MODEL_REGION, 0, Path("f.elf"), 0, 0, 0)


def model(size_bytes: int) -> PackedModel:
    return PackedModel("kws.tflite", bytes(i % 251 for i in range(size_bytes)), 128)


@pytest.mark.parametrize("size_bytes", [128, 129, 130, 131, 140, 141, 4096])
def test_the_rom_and_esptool_accept_an_image_with_a_model(firmware, tmp_path, size_bytes):
    (part,) = Esp32Packager().parts(described(firmware), model(size_bytes))
    parsed = image.parse(bytes(0x1000) + part.segment.data + bytes(64))
    assert [segment.address for segment in parsed.segments] == [MODEL_REGION.start, DATA.address, CODE.address]
    assert parsed.segments[0].data[:size_bytes] == model(size_bytes).data
    assert parsed.segments[2].data[: len(CODE.data)] == CODE.data
    path = tmp_path / "a.bin"
    path.write_bytes(part.segment.data)
    command = [sys.executable, "-m", "esptool", "--chip", "esp32", "image-info", path]
    said = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout
    assert said.count("(valid)") == 2  # checksum and hash
    assert "Segments: 3" in said


def test_labels_tell_two_models_apart_and_stand_at_both_ends(firmware):
    (part,) = Esp32Packager().parts(described(firmware), model(200))
    (other,) = Esp32Packager().parts(described(firmware), PackedModel("other", b"\xff" * 200, 128))
    for offset, size in part.labels:
        assert part.segment.data[offset : offset + size] != other.segment.data[offset : offset + size]
    assert part.labels[-1] == (len(part.segment.data) - 32, 32)


def test_firmware_alone_is_esptools_image(firmware):
    (part,) = Esp32Packager().parts(described(firmware), None)
    assert part.segment.data == firmware


def test_a_model_that_does_not_fit_does_not_link(firmware):
    room = MODEL_REGION.size_bytes
    assert Esp32Packager().parts(described(firmware), model(room))
    with pytest.raises(DoesNotLinkError) as refusal:
        Esp32Packager().parts(described(firmware), model(room + 1))
    assert refusal.value.measured == f"{room + 1:,} bytes with its header, 1 too many"
    assert refusal.value.expected == f"at most {room:,} bytes"
    assert "second-stage boot loader" in refusal.value.hint


def test_an_image_without_a_hash_or_cut_off_is_refused(firmware):
    with pytest.raises(BuildError):
        add_segment(firmware[:23] + b"\0" + firmware[24:], MODEL_REGION.start, b"model")
    with pytest.raises(BuildError):
        add_segment(firmware[:200], MODEL_REGION.start, b"model")
