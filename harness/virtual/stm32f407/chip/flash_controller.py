"""The flash interface of the STM32F407 (RM0090 section 3): unlock, erase, program, protect."""

from __future__ import annotations

import mmap
from collections.abc import Callable, Iterable

from harness.virtual.stm32f407.faults import FlashFaults

SECTOR_BYTES = (0x4000,) * 4 + (0x10000,) + (0x20000,) * 7
SECTOR_START = tuple(sum(SECTOR_BYTES[:index]) for index in range(len(SECTOR_BYTES)))

KEYS = (0x45670123, 0xCDEF89AB)
OPTION_KEYS = (0x08192A3B, 0x4C5D6E7F)

ACR, KEYR, OPTKEYR, SR, CR, OPTCR = 0x00, 0x04, 0x08, 0x0C, 0x10, 0x14

OPERR, WRPERR, PGAERR, PGPERR, PGSERR, BSY = 1 << 1, 1 << 4, 1 << 5, 1 << 6, 1 << 7, 1 << 16
_SR_CLEARED_BY_ONE = 0xF3
CR_PG, CR_SER, CR_MER, CR_STRT, CR_LOCK = 1 << 0, 1 << 1, 1 << 2, 1 << 16, 1 << 31
_CR_KEPT = 0x0300037F
OPT_LOCK, OPT_START = 1 << 0, 1 << 1
_OPTCR_FACTORY = 0x0FFFAAED
_LEVEL_0, _LEVEL_2 = 0xAA, 0xCC


_SMALLEST_SECTOR_BYTES = min(SECTOR_BYTES)
_SECTORS = tuple(sector for sector, size in enumerate(SECTOR_BYTES) for _ in range(size // _SMALLEST_SECTOR_BYTES))


def sector_of(offset: int) -> int:
    """The sector that holds an offset into the array."""
    return _SECTORS[offset // _SMALLEST_SECTOR_BYTES]


class _Lock:
    """Opens after its two keys in order; after a wrong one it stays shut until the next reset."""

    def __init__(self, keys: tuple[int, int]) -> None:
        self._keys = keys
        self.is_open = False
        self._accepted = 0
        self._jammed = False

    def enter(self, key: int) -> None:
        """Take a key."""
        if self._jammed or self.is_open or key != self._keys[self._accepted]:
            self._jammed = True
            self.is_open = False
            return
        self._accepted += 1
        if self._accepted == len(self._keys):
            self.is_open = True
            self._accepted = 0

    def shut(self) -> None:
        """Ask for both keys again."""
        self.is_open = False


class FlashController:
    """Registers from 0x40023C00 on, and what a store to the array does.

    Args:
        array: the flash bytes.
        faults: what is broken about this flash.
        debugger_attached: whether the core is in debug state or a debugger has enabled it to be.
        changed: called after the array has changed.
    """

    def __init__(
        self,
        array: mmap.mmap,
        faults: FlashFaults,
        debugger_attached: Callable[[], bool],
        changed: Callable[[], None],
    ) -> None:
        self._array = array
        self._faults = faults
        self._debugger_attached = debugger_attached
        self._changed = changed
        self._option = _OPTCR_FACTORY
        self._stores: list[tuple[int, bytes]] = []
        self._stored = False
        self.reset()

    def reset(self) -> None:
        """As after a system reset; option bytes and the array stay."""
        self.settle()
        self._lock = _Lock(KEYS)
        self._option_lock = _Lock(OPTION_KEYS)
        self._acr = self._sr = self._cr = 0
        self._option_written = self._option
        self._busy = False

    @property
    def protection_level(self) -> int:
        """Read-out protection: 0, 1 or 2 (RM0090 section 3.7.3)."""
        return {_LEVEL_0: 0, _LEVEL_2: 2}.get(self._option >> 8 & 0xFF, 1)

    @property
    def blocked(self) -> bool:
        """Whether the array can be neither read nor written, by anyone, because a debugger is attached."""
        return self.protection_level == 1 and self._debugger_attached()

    def set_options(self, value: int) -> None:
        """Have other option bytes (OPTCR's layout), as if programmed before."""
        self._option = self._option_written = value & ~(OPT_LOCK | OPT_START)

    def options(self) -> int:
        """The option bytes, in OPTCR's layout."""
        return self._option & ~(OPT_LOCK | OPT_START)

    def read(self, offset: int) -> int:
        """A register."""
        self.settle()
        if offset == SR:
            return self._sr | (BSY if self._busy else 0)
        if offset == ACR:
            return self._acr
        if offset == CR:
            return self._cr | (0 if self._lock.is_open else CR_LOCK)
        if offset == OPTCR:
            return self._option_written & ~OPT_START & ~OPT_LOCK | (0 if self._option_lock.is_open else OPT_LOCK)
        return 0

    def write(self, offset: int, value: int, mask: int) -> None:
        """A register; narrow writes are not merged, as these registers are accessed by words."""
        self.settle()
        if offset == ACR:
            self._acr = self._acr & ~mask | value
        elif offset == KEYR:
            self._lock.enter(value)
        elif offset == OPTKEYR:
            self._option_lock.enter(value)
        elif offset == SR:
            self._sr &= ~(value & _SR_CLEARED_BY_ONE)
        elif offset == CR:
            self._write_control(value)
        elif offset == OPTCR:
            self._write_options(value)

    def store(self, offset: int, value: bytes) -> None:
        """A store to the array, by the core or a debugger: programs it, or sets the error flag that says why not.

        What the array then holds is written by `settle`, since the emulator lets the core's own store through first.

        Args:
            offset: into the array.
            value: 1, 2, 4 or 8 bytes.
        """
        self._put_back()  # else the core's last store, let through as it was, would be taken for the old content
        old = bytes(self._array[offset : offset + len(value)])
        error = self._program_error(offset, len(value))
        self._sr |= error
        self._stores.append((offset, old if error else self._program(offset, old, value)))

    def settle(self) -> None:
        """Put into the array what the stores since the last call have made of it."""
        self._put_back()
        if self._stored:
            self._stored = False
            self._changed()

    def _put_back(self) -> None:
        """Replace what a store has left in the array by what it had to leave there."""
        for offset, value in self._stores:
            self._array[offset : offset + len(value)] = value
        self._stored = self._stored or bool(self._stores)
        self._stores.clear()

    def flip(self, offset: int, mask: int) -> None:
        """Turn bits of a byte of the array, as a cell that has lost its charge."""
        self._array[offset] ^= mask
        self._changed()

    def _program_error(self, offset: int, size_bytes: int) -> int:
        """The flag of SR that a store raises; 0 when it programs (RM0090 section 3.6.4)."""
        if self.blocked or not self._writable(sector_of(offset)):
            return WRPERR
        if not self._lock.is_open or not self._cr & CR_PG:
            return PGSERR
        if 1 << (self._cr >> 8 & 3) != size_bytes:
            return PGPERR
        if offset // 16 != (offset + size_bytes - 1) // 16:
            return PGAERR
        return 0

    def _program(self, offset: int, old: bytes, value: bytes) -> bytes:
        """What the cells hold afterwards: bits only fall, and broken cells do as they like."""
        self._busy = self._faults.busy_stuck
        if self._busy:
            return old
        cells = (int.from_bytes(old, "little") & int.from_bytes(value, "little")).to_bytes(len(old), "little")
        broken = self._faults.cells
        return broken.programmed(offset, old, cells) if broken.any_broken else cells

    def _write_control(self, value: int) -> None:
        if not self._lock.is_open:
            return
        if value & CR_LOCK:
            self._lock.shut()
            return
        self._cr = value & _CR_KEPT
        if value & CR_STRT:
            self._start()

    def _start(self) -> None:
        """The operation that CR asks for."""
        if self._cr & CR_MER:
            self._erase(range(len(SECTOR_BYTES)))
        elif self._cr & CR_SER:
            self._erase([self._cr >> 3 & 0xF])
        else:
            self._sr |= PGSERR

    def _erase(self, sectors: Iterable[int]) -> None:
        for sector in sectors:
            if sector >= len(SECTOR_BYTES):
                self._sr |= PGSERR
            elif self.blocked or not self._writable(sector):
                self._sr |= WRPERR
            elif sector == self._faults.failing_sector:
                self._sr |= OPERR
            else:
                self._erase_sector(sector)
        self._changed()

    def _erase_sector(self, sector: int) -> None:
        self._busy = self._faults.busy_stuck
        if not self._busy:
            start, size = SECTOR_START[sector], SECTOR_BYTES[sector]
            self._array[start : start + size] = b"\xff" * size

    def _writable(self, sector: int) -> bool:
        """Whether a sector's nWRP bit allows writing."""
        return bool(self._option >> 16 + sector & 1)

    def _write_options(self, value: int) -> None:
        """OPTCR (RM0090 section 3.6.5). Going from level 1 to 0 erases the array; level 2 is for ever."""
        if not self._option_lock.is_open or self.protection_level == 2:
            return
        if value & OPT_LOCK:
            self._option_lock.shut()
            return
        self._option_written = value & ~OPT_START
        if value & OPT_START:
            level_before = self.protection_level
            self._option = self._option_written
            if level_before == 1 and self.protection_level == 0:
                self._array[:] = b"\xff" * len(self._array)
                self._changed()
