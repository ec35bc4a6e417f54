"""Memory map of an ESP32, as far as the virtual one has it.

Source: ESP32 Technical Reference Manual, "System and Memory".
"""

from __future__ import annotations

from harness.domain.board import MemoryRegion

BOOT_OFFSET = 0x1000
"""Where in flash the ROM finds the image that it starts."""
FLASH_BYTES = 4 << 20
SECTOR_BYTES = 4096

DATA_RAM = MemoryRegion(0x3FFAE000, 0x52000)
CACHE_RAM = MemoryRegion(0x40070000, 0x8000)
"""The PRO CPU's flash cache, which the ROM has switched on."""
CODE_RAM = MemoryRegion(0x40078000, 0x28000)
ROM_DATA = MemoryRegion(0x3FFE0000, 0x440)
"""What the ROM itself needs while it loads: no segment may go there."""
RTC_FAST_DATA = MemoryRegion(0x3FF80000, 0x2000)
RTC_FAST_CODE = MemoryRegion(0x400C0000, 0x2000)
LOADABLE = (DATA_RAM, CODE_RAM, RTC_FAST_DATA, RTC_FAST_CODE)
CODE = (CODE_RAM, RTC_FAST_CODE)
"""On the instruction bus: aligned words only."""
PERIPHERALS = MemoryRegion(0x3FF00000, 0x80000)

MMU_PAGE_BYTES = 0x10000
"""What one entry of the flash MMU maps."""
PRO_CACHE_CTRL = 0x3FF00040
PRO_CACHE_CTRL1 = 0x3FF00044
PRO_DCACHE_DBUG0 = 0x3FF003F0
MMU_TABLE = 0x3FF10000
"""Of the PRO CPU: one word per page."""
CACHE_PAGES = (0x3FF00000, MMU_TABLE)
"""Pages of 4096 bytes that can be read as they are, but not written."""

UART0 = 0x3FF40000
UART0_CLKDIV = UART0 + 0x14
UART0_CONF0 = UART0 + 0x20
RTC_CNTL = 0x3FF48000
RTC_OPTIONS0 = RTC_CNTL
RTC_RESET_STATE = RTC_CNTL + 0x34
RTC_CLK_CONF = RTC_CNTL + 0x70
EFUSE_MAC_LOW = 0x3FF5A004
EFUSE_MAC_HIGH = 0x3FF5A008
TIMER_GROUP_0 = 0x3FF5F000
TIMER_GROUP_1 = 0x3FF60000
EFFECTIVE_PAGES = (UART0, RTC_CNTL, TIMER_GROUP_0, TIMER_GROUP_1)
"""Pages of 4096 bytes in which a write has an effect; all other peripherals only remember what is written to them."""
