"""Why the chip reset, as the ROM prints it and firmware reads it.

Numbers and names: RESET_REASON in ESP-IDF's components/esp_rom/include/esp32/rom/rtc.h. The ROM's lines: esptool's
documentation, "Boot Mode Selection".
"""

from __future__ import annotations

from enum import IntEnum


class ResetCause(IntEnum):
    """The low six bits of RTC_CNTL_RESET_STATE."""

    POWER_ON = 1
    """Power, or the EN pin."""
    SOFTWARE = 3
    TIMER_GROUP_0_WATCHDOG = 7
    TIMER_GROUP_1_WATCHDOG = 8
    RTC_WATCHDOG_SYSTEM = 9
    TIMER_GROUP_WATCHDOG_CPU = 11
    SOFTWARE_CPU = 12
    RTC_WATCHDOG_CPU = 13
    BROWN_OUT = 15
    RTC_WATCHDOG = 16


_ROM_NAMES = {
    ResetCause.POWER_ON: "POWERON_RESET",
    ResetCause.SOFTWARE: "SW_RESET",
    ResetCause.TIMER_GROUP_0_WATCHDOG: "TG0WDT_SYS_RESET",
    ResetCause.TIMER_GROUP_1_WATCHDOG: "TG1WDT_SYS_RESET",
    ResetCause.RTC_WATCHDOG_SYSTEM: "RTCWDT_SYS_RESET",
    ResetCause.TIMER_GROUP_WATCHDOG_CPU: "TGWDT_CPU_RESET",
    ResetCause.SOFTWARE_CPU: "SW_CPU_RESET",
    ResetCause.RTC_WATCHDOG_CPU: "RTCWDT_CPU_RESET",
    ResetCause.BROWN_OUT: "RTCWDT_BROWN_OUT_RESET",
    ResetCause.RTC_WATCHDOG: "RTCWDT_RTC_RESET",
}
_FROM_FLASH = "0x13 (SPI_FAST_FLASH_BOOT)"
_DOWNLOAD = "0x3 (DOWNLOAD_BOOT(UART0/UART1/SDIO_REI_REO_V2))"
_SPI_MODES = ("QIO", "QOUT", "DIO", "DOUT")


def banner(cause: ResetCause, *, download: bool) -> str:
    """What the ROM prints first."""
    boot = _DOWNLOAD if download else _FROM_FLASH
    text = f"ets Jun  8 2016 00:22:57\r\n\r\nrst:0x{cause:x} ({_ROM_NAMES[cause]}),boot:{boot}\r\n"
    return text + ("waiting for download\r\n" if download else "")


def load_log(spi_mode: int, segments: list[tuple[int, int]], entry: int) -> str:
    """What the ROM prints while it loads an image: `segments` are addresses and sizes in bytes."""
    mode = _SPI_MODES[spi_mode] if spi_mode < len(_SPI_MODES) else "unknown"
    lines = [
        "configsip: 0, SPIWP:0xee",
        "clk_drv:0x00,q_drv:0x00,d_drv:0x00,cs0_drv:0x00,hd_drv:0x00,wp_drv:0x00",
        f"mode:{mode}, clock div:2",
        *(f"load:0x{address:08x},len:{size}" for address, size in segments),
        f"entry 0x{entry:08x}",
    ]
    return "".join(line + "\r\n" for line in lines)
