"""What the flash stage writes, on a chip that is a byte array."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from harness.boards import load_board
from harness.domain.firmware import FirmwareImage, FlashSegment
from harness.errors import ModelError
from harness.flash import first_difference, flash_firmware, flash_model
from harness.ports import Line

BOARD = load_board("stm32f407-virtual")
BUILD_ID = "0123456789abcdef"


class ByteArrayChip:
    """Fulfils FlashSession without a probe, and counts writes."""

    def __init__(self) -> None:
        self.flash = bytearray(b"\xff" * 0x100000)
        self.written: list[int] = []

    def read(self, address: int, size_bytes: int) -> bytes:
        return bytes(self.flash[address - 0x08000000 :][:size_bytes])

    def write(self, segment: FlashSegment, progress) -> None:
        start = segment.address - 0x08000000
        self.flash[start : start + len(segment.data)] = segment.data
        self.written.append(segment.address)
        progress("flash", len(segment.data), len(segment.data))

    def start(self, open_line) -> Line:
        return open_line()

    def restart(self, line: Line) -> None:
        raise NotImplementedError


def image(build_id: str = BUILD_ID, magic: bytes = b"HARNFIRM") -> FirmwareImage:
    data = bytearray(range(256)) * 4
    data[0x200:0x224] = struct.pack("<8sII16sI", magic, 1, len(data), build_id.encode(), 1)
    segment = FlashSegment(BOARD.firmware_flash.start, bytes(data))
    return FirmwareImage(build_id, BOARD.id, "2020-07", "", "", segment, 0, Path("firmware.elf"), 0, 0, 0)


def ignore(what: str, done: int, total: int) -> None:
    pass


def test_firmware_is_written_once() -> None:
    chip = ByteArrayChip()
    assert flash_firmware(chip, image(), ignore) is True
    assert chip.read(BOARD.firmware_flash.start, 1024) == image().segment.data
    assert flash_firmware(chip, image(), ignore) is False
    assert chip.written == [BOARD.firmware_flash.start]


def test_other_build_is_written() -> None:
    chip = ByteArrayChip()
    flash_firmware(chip, image(), ignore)
    assert flash_firmware(chip, image("fedcba9876543210"), ignore) is True


def test_force_writes_in_any_case() -> None:
    chip = ByteArrayChip()
    flash_firmware(chip, image(), ignore)
    assert flash_firmware(chip, image(), ignore, force=True) is True


def test_firmware_without_a_label_is_always_written() -> None:
    chip = ByteArrayChip()
    flash_firmware(chip, image(magic=b"OTHERFIR"), ignore)
    assert flash_firmware(chip, image(magic=b"OTHERFIR"), ignore) is True


def test_model_is_written_once_and_alone() -> None:
    chip = ByteArrayChip()
    packed = bytes(range(128)) + b"model"
    assert flash_model(chip, BOARD, packed, ignore) is True
    assert flash_model(chip, BOARD, packed, ignore) is False
    assert flash_model(chip, BOARD, packed, ignore, force=True) is True
    assert chip.written == [BOARD.model_flash.start] * 2


def test_other_model_is_written() -> None:
    chip = ByteArrayChip()
    flash_model(chip, BOARD, bytes(128) + b"one", ignore)
    assert flash_model(chip, BOARD, b"\x01" + bytes(127) + b"two", ignore) is True


def test_largest_model_fits_and_one_byte_more_does_not() -> None:
    chip = ByteArrayChip()
    room = BOARD.model_flash.size_bytes
    assert flash_model(chip, BOARD, bytes(room), ignore) is True
    with pytest.raises(ModelError) as refusal:
        flash_model(chip, BOARD, bytes(room + 1), ignore)
    assert refusal.value.measured == f"{room + 1 - 128} bytes"
    assert refusal.value.expected == f"at most {room - 128} bytes"
    assert chip.written == [BOARD.model_flash.start]


def test_first_difference_names_byte_and_address() -> None:
    chip = ByteArrayChip()
    segments = [image().segment, FlashSegment(BOARD.model_flash.start, b"model")]
    for segment in segments:
        chip.write(segment, ignore)
    assert first_difference(chip, segments) is None
    chip.flash[BOARD.model_flash.start - 0x08000000 + 2] ^= 0x01
    error = first_difference(chip, segments)
    assert error is not None
    assert (error.where, error.measured, error.expected) == ("0x08040002", "0x65", "0x64")
