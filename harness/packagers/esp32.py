"""One image in flash, which the ESP32's ROM copies to RAM; the model is a segment of it.

Format: esptool's documentation, "Firmware Image Format": a header of 24 bytes, segments (address, length, bytes),
zeros, the checksum as the last byte of a multiple of 16, and the SHA-256 of all that.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterator, Sequence

from harness.domain.firmware import FirmwareImage, FlashPart, FlashSegment, PackedModel
from harness.errors import BuildError, DoesNotLinkError

_HEADER_BYTES = 24
_SEGMENT_COUNT_OFFSET = 1
_HASH_FLAG_OFFSET = 23
_MAX_SEGMENTS = 16
_SEGMENT_HEADER = struct.Struct("<II")
_WORD_BYTES = 4
_CHECKSUM_SEED = 0xEF
_BLOCK_BYTES = 16
_HASH_BYTES = 32
_TELLING_BYTES = _HEADER_BYTES + _SEGMENT_HEADER.size + 128


class Esp32Packager:
    """One part, with a label at either end.

    The first segment begins with the model's header, or without a model with the firmware's info block: they tell what
    it is. The hash at the end, which is erased first and written last, tells that it was written to its end.
    """

    def parts(self, image: FirmwareImage, model: PackedModel | None) -> Sequence[FlashPart]:
        """See `ports.Packager`."""
        name, data = f"firmware {image.build_id}", image.segment.data
        if model is not None:
            _check_size(image, model)
            name, data = f"{name} with model {model.name}", add_segment(data, image.model_region.start, model.data)
        labels = ((0, _TELLING_BYTES), (len(data) - _HASH_BYTES, _HASH_BYTES))
        return [FlashPart(name, FlashSegment(image.segment.address, data), labels)]


def add_segment(image: bytes, address: int, data: bytes) -> bytes:
    """An image with one segment more, in front of the others; its checksum and hash are renewed.

    Args:
        image: as esptool's elf2image makes it, its hash appended.
        address: where the ROM is to copy the segment to.
        data: its bytes; zeros fill up the last word.

    Raises:
        BuildError: it is no such image.
    """
    segments = [FlashSegment(address, data + bytes(-len(data) % _WORD_BYTES)), *_segments(image)]
    if len(segments) > _MAX_SEGMENTS or not image[_HASH_FLAG_OFFSET]:
        raise BuildError("this is no image that takes another segment", measured=f"{len(segments) - 1} segments")
    header = bytearray(image[:_HEADER_BYTES])
    header[_SEGMENT_COUNT_OFFSET] = len(segments)
    body = b"".join(_SEGMENT_HEADER.pack(segment.address, len(segment.data)) + segment.data for segment in segments)
    unhashed = bytes(header) + body
    padding = bytes(_BLOCK_BYTES - 1 - len(unhashed) % _BLOCK_BYTES)
    whole = unhashed + padding + bytes([_checksum(segments)])
    return whole + hashlib.sha256(whole).digest()


def _segments(image: bytes) -> Iterator[FlashSegment]:
    position = _HEADER_BYTES
    for _ in range(image[_SEGMENT_COUNT_OFFSET]):
        address, size = _SEGMENT_HEADER.unpack_from(image, position)
        position += _SEGMENT_HEADER.size + size
        if position > len(image) - _HASH_BYTES:
            raise BuildError("the image is shorter than its segments", measured=f"{len(image):,} bytes")
        yield FlashSegment(address, image[position - size : position])


def _checksum(segments: Sequence[FlashSegment]) -> int:
    """All bytes of all segments, combined by exclusive or: word by word, since the models are long."""
    total = 0
    for segment in segments:
        total ^= _exclusive_or(segment.data)
    return total ^ _CHECKSUM_SEED


def _exclusive_or(data: bytes) -> int:
    """Halve the bytes, one half on the other, until one is left."""
    value, size = int.from_bytes(data, "little"), len(data)
    while size > 1:
        half = (size + 1) // 2
        value, size = (value >> 8 * half) ^ (value & ((1 << 8 * half) - 1)), half
    return value


def _check_size(image: FirmwareImage, model: PackedModel) -> None:
    region = image.model_region
    if len(model.data) > region.size_bytes:
        raise DoesNotLinkError(
            "the model does not fit the data RAM that the firmware leaves",
            where=image.board_id,
            measured=f"{len(model.data):,} bytes with its header, {len(model.data) - region.size_bytes:,} too many",
            expected=f"at most {region.size_bytes:,} bytes",
            hint="use a smaller model, or a board that reads models from flash, such as stm32f407-discovery; "
            "mapped from flash at 0x3F400020 it would need a second-stage boot loader, which harness does not have",
        )
