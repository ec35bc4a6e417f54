import struct
import zlib

from harness.model_image import HEADER_BYTES, MAGIC, pack


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
