"""What goes into the model region of the flash: a header that lets the firmware check it, and the model."""

from __future__ import annotations

import struct
import zlib

MAGIC = b"HARNMODL"
HEADER_VERSION = 1
HEADER_BYTES = 128

# Little endian: magic, version, length and CRC-32 of the model, reserved, SHA-256, build id, zeros. CRC-32 of all this
# follows.
_HEADER = struct.Struct("<8sIIII32s16s52x")


def pack(model: bytes, sha256: str, build_id: str) -> bytes:
    """The content of the model region.

    Args:
        model: the flatbuffer.
        sha256: its hash, 64 hex digits.
        build_id: of the firmware that shall run it, 16 hex digits.
    """
    header = _HEADER.pack(
        MAGIC, HEADER_VERSION, len(model), zlib.crc32(model), 0, bytes.fromhex(sha256), build_id.encode("ascii")
    )
    return header + zlib.crc32(header).to_bytes(4, "little") + model
