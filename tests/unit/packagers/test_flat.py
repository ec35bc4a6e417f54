"""Firmware and model in regions of their own."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from harness.domain.board import MemoryRegion
from harness.domain.firmware import FirmwareImage, FlashSegment, PackedModel
from harness.errors import ModelError
from harness.packagers.flat import FlatPackager

BUILD_ID = "0123456789abcdef"
MODEL_REGION = MemoryRegion(0x08040000, 0x400)


def image(build_id: str = BUILD_ID, magic: bytes = b"HARNFIRM", at: int = 0x188) -> FirmwareImage:
    data = bytearray(range(256)) * 4
    data[at : at + 36] = struct.pack("<8sII16sI", magic, 1, len(data), build_id.encode(), 1)
    segment = FlashSegment(0x08000000, bytes(data))
    return FirmwareImage(BUILD_ID, "a-board", "2020-07", "", "", segment, MODEL_REGION, 0, Path("f.elf"), 0, 0, 0)


def model(size_bytes: int) -> PackedModel:
    return PackedModel("kws.tflite", bytes(size_bytes), 128)


def test_firmware_alone_is_labelled_by_its_info_block() -> None:
    (part,) = FlatPackager().parts(image(), None)
    assert part.segment == image().segment
    assert part.labels == ((0x188, 36),)
    assert BUILD_ID in part.name


def test_the_info_block_stands_behind_a_vector_table_of_any_length() -> None:
    assert FlatPackager().parts(image(at=0x298), None)[0].labels == ((0x298, 36),)


@pytest.mark.parametrize("other", [image(magic=b"OTHERFIR"), image(build_id="fedcba9876543210")])
def test_firmware_with_a_wrong_info_block_has_no_label(other) -> None:
    assert FlatPackager().parts(other, None)[0].labels == ()


def test_model_has_a_part_of_its_own_labelled_by_its_header() -> None:
    _, part = FlatPackager().parts(image(), model(200))
    assert part.segment == FlashSegment(MODEL_REGION.start, bytes(200))
    assert part.labels == ((0, 128),)
    assert "kws.tflite" in part.name


def test_several_models_are_one_part_labelled_by_every_header_and_the_end() -> None:
    _, part = FlatPackager().parts(image(), PackedModel("a, b", bytes(500), 128, (0, 336)))
    assert part.segment == FlashSegment(MODEL_REGION.start, bytes(500))
    assert part.labels == ((0, 128), (336, 128), (484, 16))


def test_largest_model_fits_and_one_byte_more_does_not() -> None:
    room = MODEL_REGION.size_bytes
    assert len(FlatPackager().parts(image(), model(room))) == 2
    with pytest.raises(ModelError) as refusal:
        FlatPackager().parts(image(), model(room + 1))
    assert refusal.value.measured == f"{room + 1 - 128:,} bytes"
    assert refusal.value.expected == f"at most {room - 128:,} bytes"
