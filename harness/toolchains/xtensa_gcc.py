"""GCC for the ESP32's Xtensa core: Espressif's own compiler, or Debian's for a smaller core of the same family."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path

from harness.domain.firmware import FlashSegment, ToolchainInfo
from harness.toolchains import elf2image
from harness.toolchains.gcc import Gcc
from harness.toolchains.lx106 import Lx106

NAME = "xtensa-gcc"
CHOICE = "HARNESS_XTENSA_GXX"
"""Environment variable: the path of the C++ compiler to use instead of the one on PATH."""
_ESPRESSIF = "xtensa-esp32-elf-"
_HINT = (
    "sudo apt-get install gcc-xtensa-lx106 picolibc-xtensa-lx106-elf libstdc++-arm-none-eabi-newlib, "
    "or put Espressif's xtensa-esp32-elf-g++ on PATH"
)
_LINK_FLAGS = ("-nostartfiles",)


class XtensaGcc:
    """Espressif's `xtensa-esp32-elf-g++` where there is one, else Debian's `xtensa-lx106-elf-g++`.

    Debian's core has no floating-point unit and calls functions without register windows; what it is given runs on an
    ESP32, slower. Sizes of structures, and so arena bytes, are the same.
    """

    def identify(self) -> ToolchainInfo:
        """See `ports.Toolchain`."""
        return self._gcc.identify() if self._espressif else self._lx106.identify()

    def compile(self, source: Path, target: Path, flags: Sequence[str]) -> None:
        """See `ports.Toolchain`."""
        more = () if self._espressif else self._lx106.compile_flags(source)
        self._gcc.compile(source, target, [*more, *flags])

    def archive(self, objects: Sequence[Path], target: Path) -> None:
        """See `ports.Toolchain`."""
        self._gcc.archive(objects, target)

    def link(self, inputs: Sequence[Path], script: Path, target: Path, flags: Sequence[str]) -> None:
        """See `ports.Toolchain`."""
        more = () if self._espressif else self._lx106.link_flags()
        self._gcc.link(inputs, script, target, [*more, *_LINK_FLAGS, *flags])

    def symbols(self, elf: Path) -> Mapping[str, int]:
        """See `ports.Toolchain`."""
        from harness.toolchains.elf import read_symbols  # noqa: PLC0415 - pyelftools is slow to load: only after a build

        return read_symbols(elf)

    def contents(self, elf: Path, address: int, size_bytes: int) -> bytes:
        """See `ports.Toolchain`."""
        from harness.toolchains.elf import read_contents  # noqa: PLC0415 - as above

        return read_contents(elf, address, size_bytes)

    def flash_image(self, elf: Path) -> FlashSegment:
        """See `ports.Toolchain`."""
        return elf2image.make(elf, self._gcc.copy_without)

    @cached_property
    def _espressif(self) -> bool:
        """Whether there is Espressif's compiler, or one that the user named."""
        return bool(os.environ.get(CHOICE)) or shutil.which(f"{_ESPRESSIF}g++") is not None

    @cached_property
    def _gcc(self) -> Gcc:
        if self._espressif:
            chosen = os.environ.get(CHOICE, f"{_ESPRESSIF}g++")
            return Gcc(NAME, chosen.removesuffix("g++"), _HINT)
        return self._lx106.gcc

    @cached_property
    def _lx106(self) -> Lx106:
        return Lx106(NAME, _HINT)
