from __future__ import annotations

import io
import struct

from elftools.elf.elffile import ELFFile

from harness.domain.firmware import FlashSegment
from harness.virtual.esp32 import guest
from harness.virtual.esp32.flash_cache import CacheFault
from harness.virtual.esp32.image import Image

VECBASE_A2, MISC1_A2, RSYNC = b"\x20\xe7\x13", b"\x20\xf5\x13", b"\x10\x20\x00"


def attribute(address: int) -> int:
    table = guest.page_table()
    return struct.unpack_from("<I", table, address >> 12 << 2)[0] & 15


def test_only_what_an_esp32_has_can_be_reached_and_what_has_an_effect_is_guarded():
    assert attribute(0x3FFB0000) == attribute(0x3FFFFFFC) == attribute(0x3FF5A004) == 3
    assert attribute(0x3FF00044) == attribute(0x3FF10000) == 0
    for address in (0, 0x20000000, 0x3F400000, 0x40080000, 0x4F800000, 0x3FF40000, 0x3FF48000, 0x3FF5F000, 0x3FF60000):
        assert attribute(address) == 15, hex(address)


def test_vectors_are_handed_over_where_a_barrier_shows_that_it_is_code():
    assert guest.redirect_vectors(b"ab" + VECBASE_A2 + RSYNC) == b"ab" + MISC1_A2 + RSYNC
    for untouched in (VECBASE_A2 + b"\0\0\0", b"\x21\xe7\x13" + RSYNC):
        assert guest.redirect_vectors(untouched) == untouched


def test_the_data_side_sees_code_as_it_was_flashed():
    code = VECBASE_A2 + RSYNC + b"\0\0"
    image = Image(0x40080000, 2, (FlashSegment(0x40080000, code), FlashSegment(0x3FFB0000, code)))
    flash = bytes(range(256)) * 0x800
    elf = ELFFile(io.BytesIO(guest.elf(image, flash, bytes(16), {0x3FF48034: 7}, CacheFault.PAGE_OFF)))
    loaded = {segment["p_vaddr"]: segment.data() for segment in elf.iter_segments()}
    assert loaded[0x40080000] == MISC1_A2 + RSYNC + b"\0\0"
    assert loaded[0x4E080000] == loaded[0x3FFB0000] == code
    assert loaded[0x3FF48034] == b"\7\0\0\0"
    assert loaded[0x30000000] == flash
    assert struct.unpack("<4I", loaded[0x4F800000]) == (0, 0x40080000, len(flash) // 0x10000 - 1, 8)
    assert elf["e_entry"] == 0x4F800000
