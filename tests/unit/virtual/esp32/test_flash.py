from __future__ import annotations

import pytest

from harness.errors import StorageError
from harness.virtual.esp32.faults import Esp32Faults
from harness.virtual.esp32.flash import SpiFlash
from harness.virtual.esp32.memory_map import FLASH_BYTES
from harness.virtual.flash_array import open_flash


@pytest.fixture
def faults():
    return Esp32Faults()


@pytest.fixture
def flash(faults):
    return SpiFlash(open_flash(None, FLASH_BYTES), faults)


def test_bits_only_fall_until_they_are_erased(flash):
    flash.program(0x1000, b"\xf0\x0f")
    flash.program(0x1000, b"\xcc\xcc")
    assert flash.array[0x1000:0x1003] == b"\xc0\x0c\xff"
    flash.erase(0x1001, 1)
    assert flash.array[0x1000:0x1002] == b"\xff\xff"


def test_an_erase_takes_whole_sectors_and_no_more(flash):
    flash.program(0, bytes(5 * 4096))
    flash.erase(4096 + 100, 4096)
    assert flash.array[: 5 * 4096] == bytes(4096) + b"\xff" * 2 * 4096 + bytes(2 * 4096)


def test_what_lies_behind_the_end_is_lost(flash):
    flash.program(len(flash.array) - 2, b"abcd")
    flash.erase(len(flash.array), 4096)
    assert flash.array[-2:] == b"ab"


def test_broken_cells_program_wrongly(flash, faults):
    faults.cells.flipped_bits[0x2001] = 0x01
    faults.cells.stuck_bits[0x2002] = 0x80
    flash.program(0x2000, b"\0\0\0")
    assert flash.array[0x2000:0x2003] == b"\x00\x01\x80"


def test_a_part_may_be_smaller(flash, faults):
    assert flash.size_bytes == FLASH_BYTES
    faults.flash_bytes = FLASH_BYTES // 2
    assert flash.size_bytes == FLASH_BYTES // 2


def test_a_file_keeps_it(tmp_path):
    path = tmp_path / "unit.flash"
    flash = SpiFlash(open_flash(path, FLASH_BYTES), Esp32Faults())
    flash.program(0x1000, b"kept")
    assert path.read_bytes()[0x1000:0x1005] == b"kept\xff"
    with pytest.raises(StorageError, match="belongs"):
        open_flash(path, FLASH_BYTES)
