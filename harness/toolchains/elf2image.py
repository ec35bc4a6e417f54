"""The ESP32's flash image of an ELF file, made by esptool in a process of its own (esptool is GPL; harness is not)."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from harness.domain.firmware import FlashSegment
from harness.errors import BuildError, ToolchainError

_BOOT_OFFSET = 0x1000
"""Where in flash the ROM looks (esptool's documentation, "Firmware Image Format")."""
_FLASH_OPTIONS = ("--flash-mode", "dio", "--flash-freq", "40m", "--flash-size", "4MB")
_OLD_FLASH_OPTIONS = ("--flash_mode", "dio", "--flash_freq", "40m", "--flash_size", "4MB")
_TIMEOUT_S = 60.0
_HINT = "pip install 'harness[esp32]', which brings esptool"


def make(elf: Path) -> FlashSegment:
    """The image with its checksum and its SHA-256.

    Raises:
        ToolchainError: esptool is missing, or does not run.
        BuildError: it refused the file.
    """
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
