import struct
import zlib

from harness.build.model_image import HEADER_BYTES, MAGIC, pack, pack_all


def test_layout():
    model = b"TFL3" * 5
    packed = pack(model, "ab" * 32, "0123456789abcdef")
    assert packed[:8] == MAGIC
    assert struct.unpack_from("<4I", packed, 8) == (1, 20, zlib.crc32(model), 0)
    assert packed[24:56] == b"\xab" * 32
    assert packed[56:72] == b"0123456789abcdef"
    assert packed[72:124] == bytes(52)
    assert struct.unpack_from("<I", packed, 124) == (zlib.crc32(packed[:124]),)
    assert packed[HEADER_BYTES:] == model


def test_each_header_begins_at_the_next_multiple_of_16():
    models = [(b"a" * 5, "aa" * 32), (b"b" * 32, "bb" * 32), (b"c", "cc" * 32)]
    packed = pack_all("all", models, "0123456789abcdef")
    assert packed.header_offsets == (0, 144, 304)
    for offset, (model, sha256) in zip(packed.header_offsets, models, strict=True):
        one = pack(model, sha256, "0123456789abcdef")
        assert packed.data[offset : offset + len(one)] == one
    assert packed.data[133:144] == bytes(11)
    assert len(packed.data) == 304 + HEADER_BYTES + 1


def test_one_model_is_packed_as_it_always_was():
    packed = pack_all("one", [(b"TFL3", "ab" * 32)], "0123456789abcdef")
    assert (packed.data, packed.header_offsets) == (pack(b"TFL3", "ab" * 32, "0123456789abcdef"), (0,))
