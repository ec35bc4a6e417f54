from __future__ import annotations

import pytest

from harness.virtual.esp32 import image, memory_map
from harness.virtual.esp32.image import RefusedImageError
from tests.support import esp32_probe

OFFSET = memory_map.BOOT_OFFSET


def in_flash(contents: bytes) -> bytearray:
    flash = bytearray(b"\xff" * memory_map.FLASH_BYTES)
    flash[OFFSET : OFFSET + len(contents)] = contents
    return flash


def made(*segments: tuple[int, bytes], entry: int = 0x40080000) -> bytes:
    """An image without a hash, as the format's description says."""
    contents = bytes([0xE9, len(segments), 2, 0x20]) + entry.to_bytes(4, "little") + bytes(16)
    checksum = 0xEF
    for address, data in segments:
        contents += address.to_bytes(4, "little") + len(data).to_bytes(4, "little") + data
        for byte in data:
            checksum ^= byte
    return contents.ljust(len(contents) | 15, b"\0") + bytes([checksum])


GOOD = made((0x40080000, b"code" * 9), (0x3FFB0000, b"data" * 3))


def test_esptools_image_is_taken(tmp_path):
    contents = esp32_probe.build(tmp_path).read_bytes()
    found = image.parse(in_flash(contents))
    assert found.entry in range(0x40080000, 0x400A0000)
    assert found.spi_mode == 2
    assert {segment.address for segment in found.segments} >= {0x40080000, 0x3FFB0000}


@pytest.mark.parametrize("position", [0x18 + 8, 0x18 + 8 + 100])
def test_a_changed_byte_of_esptools_image_is_refused(tmp_path, position):
    flash = in_flash(esp32_probe.build(tmp_path).read_bytes())
    flash[OFFSET + position] ^= 1
    with pytest.raises(RefusedImageError, match="checksum"):
        image.parse(flash)


def test_a_header_that_the_checksum_does_not_cover_is_covered_by_the_hash(tmp_path):
    flash = in_flash(esp32_probe.build(tmp_path).read_bytes())
    flash[OFFSET + 3] ^= 1
    with pytest.raises(RefusedImageError, match="SHA-256"):
        image.parse(flash)


def test_segments_are_read_in_order():
    found = image.parse(in_flash(GOOD))
    assert [(segment.address, segment.data) for segment in found.segments] == [
        (0x40080000, b"code" * 9),
        (0x3FFB0000, b"data" * 3),
    ]


def test_padding_is_not_loaded():
    found = image.parse(in_flash(made((0, b"\0" * 8), (0x40080000, b"code"))))
    assert [segment.address for segment in found.segments] == [0x40080000]


def test_what_would_be_the_other_cores_cache_takes_code():
    assert image.parse(in_flash(made((0x40078000, b"code"), entry=0x40078000))).entry == 0x40078000


def test_erased_flash_is_no_image():
    with pytest.raises(RefusedImageError) as caught:
        image.parse(in_flash(b""))
    assert caught.value.rom_text == "invalid header: 0xffffffff"
    assert caught.value.where == "flash offset 0x1000"


@pytest.mark.parametrize(
    ("contents", "why"),
    [
        (made((0x3F400020, b"rodata")), "cannot load"),
        (made((0x40070000, b"code")), "flash cache"),
        (made((0x40077FFC, b"one word and more")), "flash cache"),
        (made((0x40080000, b"code"), (0x3FFDFFFC, b"overlaps!")), "cannot load"),
        (made((0x4009FFFC, b"too long")), "cannot load"),
        (made((0x40080000, b"code"), entry=0x3FFB0000), "entry"),
        (made((0x40080000, b"code"))[:8] + b"\0" * 16 + b"\0\0\x08\x40\xff\xff\xff\x7f", "longer than the flash"),
        (b"\xe9\x11" + GOOD[2:], "no image"),
        (b"\xe9\x00" + GOOD[2:], "no image"),
    ],
)
def test_what_silicon_cannot_start_is_refused(contents, why):
    with pytest.raises(RefusedImageError, match=why):
        image.parse(in_flash(contents))
