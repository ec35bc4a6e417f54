"""What an ESP32's boot ROM, and ESP-IDF, say about trouble: texts on the serial line that are no frames.

Sources: RESET_REASON in ESP-IDF's components/esp_rom/include/esp32/rom/rtc.h (names of the resets); esptool's
documentation, "Boot Mode Selection" (boot modes, `flash read err`); ESP-IDF Programming Guide, "Fatal Errors"; for the
ROM's other complaints, what boards print in reports of trouble.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from harness.errors import (
    BrownOutError,
    DeviceFaultError,
    FlashError,
    HarnessError,
    ProbeError,
    ProtocolError,
    WatchdogError,
)


@dataclass(frozen=True)
class _BootText:
    """One kind of trouble: how its text reads, and what it means."""

    pattern: str
    error: type[HarnessError]
    what: str
    hint: str


# The first kind that is found counts: a chip without an image is also reset by its watchdog, again and again.
_TABLE = (
    _BootText(
        r"Brownout detector was triggered|RTCWDT_BROWN_OUT_RESET",
        BrownOutError,
        "the supply voltage fell too low, and reset the chip",
        "feed the board from a stronger supply, by a shorter cable, without a hub",
    ),
    _BootText(
        r"invalid header: 0x",
        FlashError,
        "the chip finds no firmware in its flash",
        "flash it anew: --force-flash",
    ),
    _BootText(
        r"csum err|hash err|flash read err|ets_main\.c \d+",
        FlashError,
        "the chip refuses the firmware in its flash: it is damaged",
        "flash it anew: --force-flash",
    ),
    _BootText(
        r"waiting for download|\(DOWNLOAD_BOOT",
        ProbeError,
        "the chip waits for a download instead of starting its firmware",
        "GPIO0 is low at reset: let go of the BOOT button, and take off what is wired to GPIO0",
    ),
    _BootText(
        r"Guru Meditation Error|Fatal exception \(",
        DeviceFaultError,
        "the chip ended in an exception before the firmware could report it",
        "",
    ),
    _BootText(
        r"rst:0x\w+ \(\w*WDT_\w*RESET\)|[Ww]atchdog got triggered",
        WatchdogError,
        "a watchdog reset the chip",
        "",
    ),
)
_SHOWN_CHARACTERS = 80
_ESCAPED = re.compile(r"\\x[0-9a-f]{2}|\ufffd")
_NOISE_SHARE = 0.3
"""Text at another speed becomes bytes of which most are no text; in damaged text few are."""


def explain(lines: Sequence[str], port: str) -> HarnessError | None:
    """The trouble that the lines tell of; None when they tell of none.

    Args:
        lines: what came instead of a frame.
        port: where.
    """
    for known in _TABLE:
        line = next((line for line in lines if re.search(known.pattern, line)), None)
        if line is not None:
            return known.error(known.what, where=port, measured=line[:_SHOWN_CHARACTERS].strip(), hint=known.hint)
    return None


def explain_noise(lines: Sequence[str], port: str) -> ProtocolError | None:
    """The error for a device that says something at another speed; None when it says anything else as well.

    Args:
        lines: what came instead of a frame, bytes that are no text escaped.
        port: where.
    """
    if not lines or not all(map(_is_noise, lines)):
        return None
    return ProtocolError(
        "what the device says arrives as noise",
        where=port,
        measured=f"{len(lines)} lines, the last: {lines[-1][:_SHOWN_CHARACTERS]}",
        hint="a boot ROM talks at 115200 baud (74880 with a 26 MHz crystal), harness's firmware at the board file's "
        "baud_rate: is it running at all?",
    )


def _is_noise(line: str) -> bool:
    """Whether too many of its characters are bytes that are no text."""
    strange = len(_ESCAPED.findall(line))
    plain = len(_ESCAPED.sub("", line))
    return strange > _NOISE_SHARE * (strange + plain)
