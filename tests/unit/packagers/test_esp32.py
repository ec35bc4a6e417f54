"""Firmware and model in flash, where a boot loader writes both."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from harness.domain.board import MemoryRegion
from harness.domain.firmware import FirmwareImage, FlashSegment, PackedModel
from harness.errors import ModelError
from harness.packagers.esp32 import Esp32Packager

BUILD_ID = "0123456789abcdef"
MODEL_REGION = MemoryRegion(0x100000, 0x1000)
INFO = 0x300


def image(build_id: str = BUILD_ID) -> FirmwareImage:
    data = bytearray(range(256)) * 4
    data[INFO : INFO + 36] = struct.pack("<8sII16sI", b"HARNFIRM", 1, 0x200, build_id.encode(), 1)
    segment = FlashSegment(0x1000, bytes(data))
    return FirmwareImage(BUILD_ID, "a-board", "2020-07", "", "", segment, MODEL_REGION, 0, Path("f.elf"), 0, 0, 0)


def model(size_bytes: int) -> PackedModel:
    return PackedModel("kws.tflite", bytes(i % 251 for i in range(size_bytes)), 128)


def test_a_model_does_not_touch_the_firmware() -> None:
    alone = Esp32Packager().parts(image(), None)
    firmware, part = Esp32Packager().parts(image(), model(200))
    assert alone == [firmware]
    assert firmware.segment == image().segment
    assert part.segment == FlashSegment(MODEL_REGION.start, model(200).data)


def test_both_are_labelled_at_their_ends_which_are_written_last() -> None:
    firmware, part = Esp32Packager().parts(image(), model(200))
    assert firmware.labels == ((INFO, 36), (0, 160), (1024 - 32, 32))
    assert part.labels == ((0, 128), (184, 16))


def test_firmware_of_another_build_has_no_label() -> None:
    assert Esp32Packager().parts(image("fedcba9876543210"), None)[0].labels == ()


def test_the_largest_model_fits_and_one_byte_more_is_refused() -> None:
    room = MODEL_REGION.size_bytes
    assert Esp32Packager().parts(image(), model(room))
    with pytest.raises(ModelError) as refusal:
        Esp32Packager().parts(image(), model(room + 1))
    assert (refusal.value.measured, refusal.value.expected) == (
        f"{room + 1 - 128:,} bytes",
        f"at most {room - 128:,} bytes",
    )
