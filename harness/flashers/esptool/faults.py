"""What esptool's exceptions mean to the user. They differ by their text only."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import serial
from esptool.util import FatalError

from harness.errors import BenchError, FlashError, ProbeError, SerialPortError

_HOLD_BOOT = "hold the BOOT button while harness connects; some boards need it each time"
_ADVICE: tuple[tuple[str, type[BenchError], str, str], ...] = (
    (
        "Wrong boot mode",
        ProbeError,
        "the chip starts its firmware instead of waiting for esptool",
        f"{_HOLD_BOOT}. Is something wired to GPIO0, or the auto-reset circuit missing?",
    ),
    (
        "TX path seems to be down",
        ProbeError,
        "the chip waits for esptool, but does not hear it",
        "check the wire from the adapter's TX to the chip's RX (GPIO3)",
    ),
    (
        r"Failed to connect",
        ProbeError,
        "the chip does not answer",
        f"is --port this board's, and its cable one for data? {_HOLD_BOOT}",
    ),
    (
        r"No serial data received|No more data to read|data stream stopped",
        ProbeError,
        "the chip answers no longer",
        "check cable and supply, then run again",
    ),
    (
        r"Invalid head of packet|noise or corruption|Packet content transfer|Corrupt data|Response doesn't match",
        ProbeError,
        "what the chip answers arrives damaged",
        "use a shorter cable, or a smaller serial.baud_rate in the board file",
    ),
    (
        r"Failed to start stub|stub flasher",
        ProbeError,
        "esptool's helper program does not start on the chip",
        "run again; is the board's supply strong enough?",
    ),
    (
        r"write|erase|compressed|MD5|md5|[Rr]ead flash|flash",
        FlashError,
        "the chip refuses a flash command",
        "run again; if that does not help, its flash is write-protected, worn, or its supply too weak",
    ),
)
_OTHER = (ProbeError, "esptool gives up", "run again; unplug the board and plug it in again before that")
_TEXT_LIMIT = 160
_POINTER = re.compile("(?i)this can have many causes|for troubleshooting")
"""Where esptool goes on with the address of a web page."""


@contextmanager
def explained(doing: str, port: str) -> Iterator[None]:
    """Turn esptool's exceptions, and those of the serial port below it, into harness's errors.

    Args:
        doing: what is being done, as in `while reading`.
        port: which port the messages name.
    """
    try:
        yield
    except FatalError as error:
        raise explain(str(error), doing, port) from error
    except (serial.SerialException, OSError) as error:
        raise SerialPortError(
            f"the port is gone while {doing}: {error}", where=port, hint="check cable and power, then run again"
        ) from error


def explain(text: str, doing: str, port: str) -> BenchError:
    """The error for what esptool said; the first kind that fits counts."""
    kind, what, hint = next(
        ((kind, what, hint) for pattern, kind, what, hint in _ADVICE if re.search(pattern, text)), _OTHER
    )
    said = " ".join(_POINTER.split(text)[0].split())[:_TEXT_LIMIT]
    return kind(f"{what} while {doing}", where=port, measured=f"esptool: {said}", hint=hint)
