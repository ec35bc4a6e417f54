"""What can be broken about a virtual ESP32, besides what any virtual board can have broken."""

from __future__ import annotations

from dataclasses import dataclass, field

from harness.virtual.esp32.flash_cache import NO_CACHE_FAULT, CacheFault
from harness.virtual.faults import CellFaults, LineFaults


@dataclass
class LoaderFaults:
    """Trouble with the boot loader.

    Attributes:
        silent: it answers nothing, not even a SYNC.
        refusals: how many commands, SYNC and register reads aside, are answered with an error.
        lost_replies: how many replies to such commands never arrive.
        unplug_after_blocks: the adapter is pulled out when so many blocks have been written; None: never.
        chip_magic: what identifies the chip, if not that of an ESP32.
    """

    silent: bool = False
    refusals: int = 0
    lost_replies: int = 0
    unplug_after_blocks: int | None = None
    chip_magic: int | None = None

    def clear(self) -> None:
        """Mend it."""
        self.silent = False
        self.refusals = self.lost_replies = 0
        self.unplug_after_blocks = self.chip_magic = None


@dataclass
class Esp32Faults:
    """All that is broken about one board.

    Attributes:
        cells: those of the flash.
        line: the serial line.
        loader: the boot loader.
        strap_ignored: GPIO0 does not reach the chip: it starts from flash although a download was asked for.
        brown_outs: how many of the next starts end in a brown-out; None: all.
        cache: what is broken about the flash cache, from the next start on.
        cache_start: what CTRL and CTRL1 of the flash cache hold at a start, if not what the ROM is thought to leave.
        flash_bytes: how large the flash is, if not as large as a DevKitC's; a power of two.
        watchdogs_stuck: no write reaches the watchdogs, so that nobody can silence them.
    """

    cells: CellFaults = field(default_factory=CellFaults)
    line: LineFaults = field(default_factory=LineFaults)
    loader: LoaderFaults = field(default_factory=LoaderFaults)
    strap_ignored: bool = False
    brown_outs: int | None = 0
    watchdogs_stuck: bool = False
    cache: CacheFault = NO_CACHE_FAULT
    cache_start: tuple[int, int] | None = None
    flash_bytes: int | None = None

    def clear(self) -> None:
        """Mend everything. The parts keep looking at the same objects."""
        self.cells.clear()
        self.line.clear()
        self.loader.clear()
        self.strap_ignored = self.watchdogs_stuck = False
        self.brown_outs = 0
        self.cache = NO_CACHE_FAULT
        self.cache_start = self.flash_bytes = None

    def take_brown_out(self) -> bool:
        """Whether the supply fails at this start."""
        if self.brown_outs:
            self.brown_outs -= 1
            return True
        return self.brown_outs is None
