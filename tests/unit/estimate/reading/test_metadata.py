from __future__ import annotations

import struct

import pytest

from harness.errors import ModelError
from harness.estimate import ModelFile
from harness.estimate.reading.metadata import with_metadata
from harness.estimate.reading.parse import parse
from tests.support.models import layers

NAME = "OfflineMemoryAllocation"


def test_an_entry_of_the_same_name_is_replaced_and_others_stay() -> None:
    model = layers()
    model.metadata = {"other": b"1234", "second": b"5678"}
    data = with_metadata(ModelFile.of("m.tflite", model.build()), "more", b"9")
    again = with_metadata(ModelFile.of("m.tflite", data), "other", b"0")
    assert parse(data).metadata == ("other", "second", "more")
    assert parse(again).metadata == ("second", "more", "other")


def test_the_old_file_lies_unchanged_and_as_aligned_inside_the_new_one() -> None:
    before = ModelFile.of("m.tflite", layers().build())
    for length in range(1, 20):
        old = before.data + bytes(length)  # a file of any length
        data = with_metadata(ModelFile.of("odd.tflite", old), NAME, bytes(8))
        assert data.index(old) % 16 == 0


def test_a_schema_with_unknown_fields_is_not_copied() -> None:
    data = bytearray(ModelFile.of("m.tflite", layers().build()).data)
    root = struct.unpack_from("<I", data)[0]
    vtable = root - struct.unpack_from("<i", data, root)[0]
    old_words = data[vtable : vtable + struct.unpack_from("<H", data, vtable)[0]]
    # The same table with a description of ten fields more, at the end of the file; the last of them is there.
    new_words = bytearray(struct.pack("<H", 4 + 2 * 20) + old_words[2:]).ljust(4 + 2 * 20, b"\0")
    new_words[-2:] = struct.pack("<H", 4)
    struct.pack_into("<i", data, root, root - len(data))
    with pytest.raises(ModelError, match="newer than what can be copied"):
        with_metadata(ModelFile.of("new.tflite", bytes(data + new_words)), NAME, b"")
