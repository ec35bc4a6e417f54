"""Builds the bare ESP32 program that the virtual board's tests flash; skips, saying why, where that cannot be done."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

_SOURCES = Path(__file__).parent / "assets" / "esp32"
_COMPILER = "xtensa-lx106-elf-gcc"
_FLAGS = ("-Os", "-Wall", "-Werror", "-mtext-section-literals", "-ffreestanding", "-fno-toplevel-reorder", "-nostdlib")
ESPTOOL = (sys.executable, "-m", "esptool")


def require_emulator() -> None:
    """Skip where a virtual ESP32 cannot run."""
    if importlib.util.find_spec("esp32_mock_bootloader") is None:
        pytest.skip("esp32-mock-bootloader is not installed")
    if shutil.which("qemu-system-xtensa") is None:
        pytest.skip("qemu-system-xtensa is not installed")
    require_compiler()


def require_compiler() -> None:
    """Skip where nothing can be compiled for Xtensa."""
    if shutil.which(_COMPILER) is None:
        pytest.skip(f"{_COMPILER} is not installed")
    if importlib.util.find_spec("esptool") is None:
        pytest.skip("esptool is not installed")


def build(folder: Path, *defines: str) -> Path:
    """The program as an image for flash offset 0x1000."""
    require_compiler()
    elf, image = folder / "probe.elf", folder / "probe.bin"
    script = ("-T", str(_SOURCES / "probe.ld"))
    symbols = [f"-D{define}" for define in defines]
    subprocess.run([_COMPILER, *_FLAGS, *symbols, *script, "-o", elf, _SOURCES / "probe.c"], check=True)
    options = ("--flash-mode", "dio", "--flash-freq", "40m", "--flash-size", "4MB")
    subprocess.run(
        [*ESPTOOL, "--chip", "esp32", "elf2image", *options, "-o", image, elf], check=True, capture_output=True
    )
    return image
