from __future__ import annotations

import pytest

from harness.virtual.esp32.qemu import RegisterWrite, ShimDecoder, Started, UnhandledException

STREAM = (
    b"\xdb\x02hello"
    b"\xdb\x01\x48\xf0\xf5\x3f\x00\x00\x00\x00"
    b"\xdb\x00\xdb\x00!"
    b"\xdb\x03\x1c\x00\x00\x00\x00\x00\x08\x40\x04\x00\x00\x00"
)


def test_the_shims_words_are_told_from_the_firmwares_bytes():
    assert list(ShimDecoder().feed(STREAM)) == [
        Started(),
        b"hello",
        RegisterWrite(0x3FF5F048, 0),
        b"\xdb",
        b"\xdb",
        b"!",
        UnhandledException(28, 0x40080000, 4),
    ]


@pytest.mark.parametrize("size", [1, 2, 3, 7])
def test_pieces_of_any_size_come_to_the_same(size):
    decoder = ShimDecoder()
    found = [each for at in range(0, len(STREAM), size) for each in decoder.feed(STREAM[at : at + size])]
    assert b"".join(each for each in found if isinstance(each, bytes)) == b"hello\xdb\xdb!"
    assert [each for each in found if not isinstance(each, bytes)] == [
        Started(),
        RegisterWrite(0x3FF5F048, 0),
        UnhandledException(28, 0x40080000, 4),
    ]
