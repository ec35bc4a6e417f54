"""A second opinion: the same flashed image on another emulator, labwired, which shares no code with QEMU.

It only listens (labwired's ESP32 receives nothing on its UART), and it is slow, a million instructions a second or so:
good for comparing what a small program prints on its own.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.domain.firmware import FlashSegment
from harness.errors import DeadlineError, PluginError
from harness.virtual.esp32 import elf_file, memory_map
from harness.virtual.esp32.image import Image

_SLICE = "0.2ms"
"""Of emulated time; labwired holds Python's lock for a whole slice."""
_NO_PACING = 1
"""A UART divider with which every byte is sent at once."""


@dataclass(frozen=True)
class Run:
    """What the other emulator saw.

    Attributes:
        text: what the firmware sent.
        cycles: how many cycles of the core that took, an instruction each.
    """

    text: str
    cycles: int


def run(image: Image, until: str, most_cycles: int, mapped: Sequence[FlashSegment] = ()) -> Run:
    """Run an image from its entry until it has sent a certain text.

    Args:
        image: what was flashed.
        until: a regular expression for the text after which to stop.
        most_cycles: when to give up.
        mapped: the flash that the image reads in place, and where: labwired has its cache's registers, but not the
            pages that they map.

    Raises:
        PluginError: labwired is not installed.
        DeadlineError: the text did not come; the error carries what came instead.
    """
    try:
        import labwired  # noqa: PLC0415 - an optional extra
    except ImportError as error:
        raise PluginError(f"no second emulator: {error}", hint="pip install 'harness[virtual]'") from error
    with tempfile.NamedTemporaryFile(suffix=".elf") as file:
        Path(file.name).write_bytes(elf_file.encode(image.entry, [*image.segments, *mapped]))
        emulator = labwired.Sim(file.name, chip="esp32")
        try:
            received = b""
            while not re.search(until.encode(), received):
                if emulator.cycles > most_cycles:
                    raise DeadlineError(
                        "the firmware did not send what was waited for, on labwired",
                        measured=repr(received[-100:].decode(errors="replace")),
                        expected=repr(until),
                    )
                emulator.run_for(_SLICE)
                emulator.write_u32(memory_map.UART0_CLKDIV, _NO_PACING)  # each time: the firmware sets its own
                received += emulator.read_uart_bytes()
            return Run(received.decode(errors="replace"), int(emulator.cycles))
        finally:
            emulator.close()
