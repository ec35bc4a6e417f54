"""The flash cache of the virtual ESP32 and its MMU, register by register, as a bare program drives them."""

from __future__ import annotations

import struct

import pytest

from tests.support.esp32_bench import READY, Bench

pytestmark = pytest.mark.filterwarnings(
    "ignore:set(Daemon|Name).. is deprecated:DeprecationWarning"
)  # in pySerial's RFC 2217 client
CTRL, CTRL1, TABLE = 0x3FF00040, 0x3FF00044, 0x3FF10000
ENABLE, FLUSH, FLUSHED = 1 << 3, 1 << 4, 1 << 5
MASK_IRAM0, MASK_DROM0 = 1 << 0, 1 << 4
INVALID = 0x100
DATA, CODE = 0x3F400000, 0x400D0000
CODE_ENTRY = 77
PAGE = 0x10000
JUNK = 0xBAD0BAD0
FUNCTION = b"\x22\xa1\x23\x80\x00\x00"
"""`movi a2, 0x123; ret`."""
PAGES = {page: struct.pack("<I", 0x1000 + page) + FUNCTION for page in (2, 3, 40, 63)}


class Cache:
    """The registers, and what lies behind them.

    Args:
        bench: a board that runs the bare program.
    """

    def __init__(self, bench: Bench) -> None:
        self.bench = bench

    def load(self, address: int) -> int:
        return self._number(b"l", b"load=", address)

    def octet(self, address: int) -> int:
        return self._number(b"o", b"octet=", address)

    def call(self, address: int) -> int:
        return self._number(b"x", b"called=", address)

    def store(self, address: int, value: int) -> None:
        self.bench.ask(b"t" + struct.pack("<2I", address, value), b"stored\r\n")

    def set_entries(self, **pages: int) -> None:
        for entry, page in pages.items():
            self.store(TABLE + 4 * int(entry.lstrip("e")), page)

    def map(self, pages: dict[int, int], *, flush: bool = True, mask: int = 0) -> None:
        """Off, flush, table, mask, on: the order that silicon asks for."""
        ctrl = self.load(CTRL) & ~(ENABLE | FLUSH)
        self.store(CTRL, ctrl)
        if flush:
            self.store(CTRL, ctrl | FLUSH)
            self.store(CTRL, ctrl)
        for entry, page in pages.items():
            self.store(TABLE + 4 * entry, page)
        self.store(CTRL1, self.load(CTRL1) & ~(MASK_IRAM0 | MASK_DROM0) | mask)
        self.store(CTRL, ctrl | ENABLE)

    def _number(self, command: bytes, name: bytes, address: int) -> int:
        self.bench.ask(command + struct.pack("<I", address), name)
        return int(self.bench.until(b"\r\n"), 16)


@pytest.fixture
def cache(esp32_images, start_esp32) -> Cache:
    bench = start_esp32(esp32_images(), *((page * PAGE, contents) for page, contents in PAGES.items()))
    return restarted(bench)


def restarted(bench: Bench) -> Cache:
    bench.reset()
    bench.until(READY)
    return Cache(bench)


def test_what_the_rom_leaves(cache):
    assert (cache.load(CTRL), cache.load(CTRL1)) == (0x28, 0x8EF)
    assert cache.octet(DATA + 0x1000) == 0xE9  # the image that it has started
    assert cache.load(DATA + PAGE) == JUNK


def test_pages_of_flash_show_where_the_table_says(cache):
    cache.map({0: 2, 1: 63, 63: 40})
    assert cache.load(DATA) == 0x1002
    assert cache.load(DATA + PAGE) == 0x103F
    assert cache.octet(DATA + 63 * PAGE) == 0x28
    assert cache.load(DATA + 2 * PAGE) == JUNK


def test_code_runs_from_mapped_flash_and_is_read_by_words(cache):
    cache.map({CODE_ENTRY: 2, CODE_ENTRY + 1: 3})
    assert cache.load(CODE) == 0x1002
    assert cache.call(CODE + 4) == cache.call(CODE + PAGE + 4) == 0x123
    assert b"fault=00000003" in cache.bench.ask(b"o" + struct.pack("<I", CODE + 1), b"address=400d0001")


def test_code_that_is_no_longer_mapped_does_not_run(cache):
    cache.map({CODE_ENTRY: 2})
    assert cache.call(CODE + 4) == 0x123
    cache.map({CODE_ENTRY: INVALID})
    assert b"fault=00000000" in cache.bench.ask(b"x" + struct.pack("<I", CODE + 4), b"pc=400d0004")


def test_mapped_flash_is_read_only(cache):
    cache.map({0: 2})
    said = cache.bench.ask(b"t" + struct.pack("<2I", DATA + 8, 0), b"address=3f400008")
    assert b"fault=0000001d" in said


@pytest.mark.parametrize(("mask", "data", "code"), [(MASK_DROM0, JUNK, 0x1003), (MASK_IRAM0, 0x1002, 0)])
def test_a_masked_window_shows_nothing(cache, mask, data, code):
    cache.map({0: 2, CODE_ENTRY: 3}, mask=mask)
    assert (cache.load(DATA), cache.load(CODE)) == (data, code)


def test_a_cache_that_is_off_shows_nothing(cache):
    cache.map({0: 2})
    cache.store(CTRL, cache.load(CTRL) & ~ENABLE)
    assert cache.load(DATA) == JUNK


def test_without_a_flush_it_shows_what_it_showed_before(cache):
    cache.map({0: 2})
    cache.map({0: 3}, flush=False)
    assert cache.load(TABLE) == 3
    assert cache.load(DATA) == 0x1002
    cache.map({0: 3})
    assert cache.load(DATA) == 0x1003


def test_a_flush_says_when_it_is_done(cache):
    ctrl = cache.load(CTRL) & ~(ENABLE | FLUSH | FLUSHED)
    cache.store(CTRL, ctrl | FLUSH)
    assert cache.load(CTRL) == ctrl | FLUSH | FLUSHED


def test_pages_behind_the_parts_end_begin_again(cache):
    cache.bench.control("flash_size", megabytes=2)
    restarted(cache.bench)
    cache.map({0: 32 + 2})
    assert cache.load(DATA) == 0x1002


@pytest.mark.parametrize(
    ("kind", "data", "ctrl", "ctrl1"),
    [
        ("drom_masked", JUNK, ENABLE | FLUSHED, MASK_DROM0),
        ("never_enabled", JUNK, FLUSHED, 0),
        ("never_flushed", JUNK, ENABLE, 0),
        ("page_off", 0x1003, ENABLE | FLUSHED, 0),
    ],
)
def test_broken_as_told(cache, kind, data, ctrl, ctrl1):
    cache.bench.control("cache", kind=kind)
    restarted(cache.bench)
    cache.map({1: 2})
    assert cache.load(DATA + PAGE) == data
    assert cache.load(CTRL) & (ENABLE | FLUSHED) == ctrl
    assert cache.load(CTRL1) & MASK_DROM0 == ctrl1
    cache.bench.control("clear_faults")
    restarted(cache.bench)
    cache.map({1: 2})
    assert cache.load(DATA + PAGE) == 0x1002


@pytest.mark.parametrize(("ctrl", "ctrl1"), [(0, 0xFFF), (0x30, 0x8EF), (0x38, 0x10)])
def test_other_start_values(cache, ctrl, ctrl1):
    cache.bench.control("cache_start", ctrl=ctrl, ctrl1=ctrl1)
    restarted(cache.bench)
    assert (cache.load(CTRL), cache.load(CTRL1)) == (ctrl, ctrl1)
    cache.map({0: 2})
    assert cache.load(DATA) == 0x1002
