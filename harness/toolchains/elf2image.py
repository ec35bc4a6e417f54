"""What the ESP32's flash is to hold: an image that the ROM starts, and behind it what is read in place.

The image is made by esptool in a process of its own (esptool is GPL; harness is not).
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from harness.domain.firmware import FlashSegment
from harness.errors import BuildError, DoesNotLinkError, ToolchainError
from harness.toolchains.elf import read_load_segments

_BOOT_OFFSET = 0x1000
"""Where in flash the ROM looks (esptool's documentation, "Firmware Image Format")."""
_FLASH_OPTIONS = ("--flash-mode", "dio", "--flash-freq", "40m", "--flash-size", "4MB")
_OLD_FLASH_OPTIONS = ("--flash_mode", "dio", "--flash_freq", "40m", "--flash_size", "4MB")
_MAPPED_SECTIONS = ".mapped_*"
_LARGEST_FLASH_BYTES = 16 << 20
"""What the flash MMU can address; all addresses of the chip's RAM lie above."""
_ERASED = b"\xff"
_TIMEOUT_S = 60.0
_HINT = "pip install 'harness[esp32]', which brings esptool"


def make(elf: Path, without: Callable[[Path, Path, str], None]) -> FlashSegment:
    """The image with its checksum and SHA-256, what is read in place where it belongs, and the SHA-256 of all that.

    Args:
        elf: whose sections `.mapped_*` are loaded from offsets in flash, all others from where they run.
        without: copies an ELF file without the sections of a pattern.

    Raises:
        ToolchainError: esptool is missing, or does not run.
        BuildError: it refused the file.
        DoesNotLinkError: the image reaches into what is read in place.
    """
    mapped = [segment for segment in read_load_segments(elf) if segment.address < _LARGEST_FLASH_BYTES]
    if not mapped:
        return _rom_image(elf)
    with tempfile.TemporaryDirectory(prefix="harness-elf2image-") as folder:
        loaded = Path(folder) / "loaded.elf"
        without(elf, loaded, _MAPPED_SECTIONS)
        return _joined(elf, _rom_image(loaded), mapped)


def _joined(elf: Path, image: FlashSegment, mapped: list[FlashSegment]) -> FlashSegment:
    data = bytearray(image.data)
    if image.end > mapped[0].address:
        raise DoesNotLinkError(
            "what the ROM copies into RAM does not fit its region of the flash",
            where=elf,
            measured=f"{len(data):,} bytes",
            expected=f"at most {mapped[0].address - image.address:,}",
            hint="a larger flash.firmware in the board file, with flash.mapped behind it",
        )
    for segment in mapped:
        data += _ERASED * (segment.address - image.address - len(data)) + segment.data
    return FlashSegment(image.address, bytes(data) + hashlib.sha256(data).digest())


def _rom_image(elf: Path) -> FlashSegment:
    options = _FLASH_OPTIONS if _major_version() >= 5 else _OLD_FLASH_OPTIONS
    with tempfile.TemporaryDirectory(prefix="harness-elf2image-") as folder:
        target = Path(folder) / "image.bin"
        done = _esptool("--chip", "esp32", "elf2image", *options, "--output", str(target), str(elf))
        if done.returncode != 0 or not target.is_file():
            said = (done.stderr or done.stdout).strip().splitlines()
            raise BuildError(f"esptool makes no image of it: {said[-1] if said else 'it said nothing'}", where=elf)
        return FlashSegment(_BOOT_OFFSET, target.read_bytes())


def _major_version() -> int:
    """Version 5 spells its options with hyphens; version 4 knows underscores only."""
    done = _esptool("version")
    version = done.stdout.strip().splitlines()[-1:] if done.returncode == 0 else []
    if not version:
        raise ToolchainError("esptool does not run; it makes the ESP32's flash images", hint=_HINT)
    return int(version[0].removeprefix("v").partition(".")[0])


def _esptool(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-P", "-m", "esptool", *arguments]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=_TIMEOUT_S)
    except subprocess.TimeoutExpired as error:
        raise ToolchainError("esptool does not end", measured=f"{_TIMEOUT_S:.0f} s", hint=_HINT) from error
