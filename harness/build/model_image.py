"""What goes into the model region of the flash: models, each behind a header that lets the firmware check it."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence

from harness.domain.firmware import PackedModel

MAGIC = b"HARNMODL"
HEADER_VERSION = 1
HEADER_BYTES = 128
_ALIGNMENT = 16

# Little endian: magic, version, length and CRC-32 of the model, reserved, SHA-256, build id, zeros. CRC-32 of all this
# follows.
_HEADER = struct.Struct("<8sIIII32s16s52x")


def pack_all(name: str, models: Sequence[tuple[bytes, str]], build_id: str) -> PackedModel:
    """One or several models, each header at the next multiple of 16 behind the model before.

    Args:
        name: what to call them.
        models: flatbuffer and hash of each.
        build_id: of the firmware that shall run them, 16 hex digits.
    """
    data = bytearray()
    offsets = []
    for model, sha256 in models:
        data += bytes(-len(data) % _ALIGNMENT)
        offsets.append(len(data))
        data += pack(model, sha256, build_id)
    return PackedModel(name, bytes(data), HEADER_BYTES, tuple(offsets))


def pack(model: bytes, sha256: str, build_id: str) -> bytes:
    """A model behind its header.

    Args:
        model: the flatbuffer.
        sha256: its hash, 64 hex digits.
        build_id: of the firmware that shall run it, 16 hex digits.
    """
    header = _HEADER.pack(
        MAGIC, HEADER_VERSION, len(model), zlib.crc32(model), 0, bytes.fromhex(sha256), build_id.encode("ascii")
    )
    return header + zlib.crc32(header).to_bytes(4, "little") + model
