from __future__ import annotations

import pytest

from harness.virtual.flash_array import open_flash
from harness.virtual.stm32f407.chip.flash_controller import (
    BSY,
    CR,
    CR_LOCK,
    CR_MER,
    CR_PG,
    CR_SER,
    CR_STRT,
    KEYR,
    KEYS,
    OPERR,
    OPT_LOCK,
    OPT_START,
    OPTCR,
    OPTION_KEYS,
    OPTKEYR,
    PGAERR,
    PGPERR,
    PGSERR,
    SECTOR_BYTES,
    SECTOR_START,
    SR,
    WRPERR,
    FlashController,
    sector_of,
)
from harness.virtual.stm32f407.chip.memory import FLASH_BYTES
from harness.virtual.stm32f407.faults import FlashFaults

WORD = 0xFFFFFFFF
BYTES_1, BYTES_4, BYTES_8 = 0 << 8, 2 << 8, 3 << 8


class Flash:
    """A flash interface, with what software does to it."""

    def __init__(self) -> None:
        self.array = open_flash(None, FLASH_BYTES)
        self.faults = FlashFaults()
        self.debugger = False
        self.controller = FlashController(self.array, self.faults, lambda: self.debugger, lambda: None)

    def write(self, offset: int, value: int) -> None:
        self.controller.write(offset, value, WORD)

    def unlock(self) -> None:
        for key in KEYS:
            self.write(KEYR, key)

    def program(self, offset: int, value: bytes, size: int = BYTES_4) -> int:
        """The flags of SR after a store."""
        self.write(CR, CR_PG | size)
        self.controller.store(offset, value)
        return self.controller.read(SR)

    def erase(self, sector: int) -> int:
        """The flags of SR after an erase."""
        self.write(CR, CR_SER | sector << 3 | CR_STRT)
        return self.controller.read(SR)

    def read(self, offset: int, size: int = 4) -> bytes:
        self.controller.settle()
        return self.array[offset : offset + size]


@pytest.fixture
def flash():
    return Flash()


@pytest.fixture
def unlocked(flash):
    flash.unlock()
    return flash


def test_the_sectors_fill_the_array():
    assert sum(SECTOR_BYTES) == FLASH_BYTES
    for sector, start in enumerate(SECTOR_START):
        assert sector_of(start) == sector
        assert sector_of(start + SECTOR_BYTES[sector] - 1) == sector


def test_it_is_locked_after_reset_and_opens_with_its_keys(flash):
    assert flash.controller.read(CR) & CR_LOCK
    flash.unlock()
    assert not flash.controller.read(CR) & CR_LOCK
    flash.write(CR, CR_LOCK)
    assert flash.controller.read(CR) & CR_LOCK


@pytest.mark.parametrize("keys", [(KEYS[1], KEYS[0]), (KEYS[0], 0), (0,)])
def test_after_a_wrong_key_it_stays_locked_until_reset(flash, keys):
    for key in keys:
        flash.write(KEYR, key)
    flash.unlock()
    assert flash.controller.read(CR) & CR_LOCK
    flash.controller.reset()
    flash.unlock()
    assert not flash.controller.read(CR) & CR_LOCK


def test_bits_only_fall(unlocked):
    assert unlocked.program(0x100, b"\xf0\xf0\xf0\xf0") == 0
    assert unlocked.program(0x100, b"\x3c\x3c\x3c\x3c") == 0
    assert unlocked.read(0x100) == b"\x30\x30\x30\x30"


def test_a_sector_erase_touches_this_sector_only(unlocked):
    unlocked.program(SECTOR_START[1] - 4, b"\0\0\0\0")
    unlocked.program(SECTOR_START[1], b"\0\0\0\0")
    unlocked.program(SECTOR_START[2] - 4, b"\0\0\0\0")
    assert unlocked.erase(1) == 0
    assert unlocked.read(SECTOR_START[1], SECTOR_BYTES[1]) == b"\xff" * SECTOR_BYTES[1]
    assert unlocked.read(SECTOR_START[1] - 4) == b"\0\0\0\0"


def test_a_mass_erase_touches_all(unlocked):
    for start in SECTOR_START:
        unlocked.program(start, b"\0\0\0\0")
    unlocked.write(CR, CR_MER | CR_STRT)
    assert unlocked.read(0, FLASH_BYTES) == b"\xff" * FLASH_BYTES


def test_a_store_without_unlocking_or_without_pg_is_a_sequence_error(flash):
    assert flash.program(0, b"\0\0\0\0") == PGSERR
    flash.controller.reset()
    flash.unlock()
    flash.controller.store(0, b"\0\0\0\0")
    assert flash.controller.read(SR) == PGSERR
    assert flash.read(0) == b"\xff\xff\xff\xff"


def test_a_store_of_another_size_than_psize_is_a_parallelism_error(unlocked):
    assert unlocked.program(0, b"\0\0\0\0", BYTES_1) == PGPERR
    assert unlocked.read(0) == b"\xff\xff\xff\xff"


def test_a_store_across_a_128_bit_row_is_an_alignment_error(unlocked):
    assert unlocked.program(12, bytes(8), BYTES_8) == PGAERR


def test_error_flags_are_cleared_by_writing_one(unlocked):
    unlocked.program(0, b"\0\0\0\0", BYTES_1)
    unlocked.write(SR, PGPERR)
    assert unlocked.controller.read(SR) == 0


def test_write_protected_sectors_neither_program_nor_erase(unlocked):
    unlocked.controller.set_options(unlocked.controller.options() & ~(1 << 17))
    assert unlocked.program(SECTOR_START[1], b"\0\0\0\0") == WRPERR
    unlocked.write(SR, WRPERR)
    assert unlocked.erase(1) == WRPERR
    unlocked.write(SR, WRPERR)
    assert unlocked.program(SECTOR_START[2], b"\0\0\0\0") == 0


def set_protection(flash: Flash, byte: int) -> None:
    for key in OPTION_KEYS:
        flash.write(OPTKEYR, key)
    options = flash.controller.read(OPTCR) & ~0xFF00 & ~OPT_LOCK | byte << 8
    flash.write(OPTCR, options)
    flash.write(OPTCR, options | OPT_START)
    flash.write(OPTCR, OPT_LOCK)


def test_level_1_blocks_the_array_while_a_debugger_is_attached(unlocked):
    unlocked.program(0, b"\0\0\0\0")
    set_protection(unlocked, 0x55)
    assert unlocked.controller.protection_level == 1
    assert not unlocked.controller.blocked
    unlocked.debugger = True
    assert unlocked.controller.blocked
    assert unlocked.program(4, b"\0\0\0\0") == WRPERR


def test_going_back_to_level_0_erases_the_array(unlocked):
    unlocked.program(0, b"\0\0\0\0")
    set_protection(unlocked, 0x55)
    assert unlocked.read(0) == b"\0\0\0\0"
    set_protection(unlocked, 0xAA)
    assert unlocked.controller.protection_level == 0
    assert unlocked.read(0) == b"\xff\xff\xff\xff"


def test_level_2_is_for_ever(unlocked):
    set_protection(unlocked, 0xCC)
    set_protection(unlocked, 0xAA)
    assert unlocked.controller.protection_level == 2


def test_options_need_their_own_keys(unlocked):
    unlocked.write(OPTCR, 0x0FFF_55EC | OPT_START)
    assert unlocked.controller.protection_level == 0


def test_broken_cells(unlocked):
    unlocked.faults.cells.stuck_bits[0x10] = 0x01
    unlocked.faults.cells.flipped_bits[0x13] = 0x80
    assert unlocked.program(0x10, b"\0\0\0\0") == 0
    assert unlocked.read(0x10) == b"\x01\0\0\x80"


def test_a_busy_flag_that_sticks(unlocked):
    unlocked.faults.busy_stuck = True
    assert unlocked.program(0, b"\0\0\0\0") == BSY
    assert unlocked.read(0) == b"\xff\xff\xff\xff"
    unlocked.controller.reset()
    assert unlocked.controller.read(SR) == 0


def test_a_sector_that_does_not_erase(unlocked):
    unlocked.faults.failing_sector = 3
    assert unlocked.erase(3) == OPERR


def test_a_sector_that_does_not_exist(unlocked):
    assert unlocked.erase(12) == PGSERR
