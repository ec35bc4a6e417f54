"""GCC for bare-metal ARM, with newlib-nano."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from harness.domain.firmware import FlashSegment, ToolchainInfo
from harness.toolchains.gcc import Gcc

_PACKAGES = "gcc-arm-none-eabi libnewlib-arm-none-eabi libstdc++-arm-none-eabi-newlib"
# The libraries of Debian's toolchain use short enums, TFLM does not; no enum crosses the border.
_LINK_FLAGS = ("--specs=nano.specs", "-nostartfiles", "-Wl,--no-enum-size-warning")


class ArmGcc:
    """`arm-none-eabi-gcc` and its family, found on PATH."""

    def __init__(self) -> None:
        self._gcc = Gcc("arm-gcc", "arm-none-eabi-", f"sudo apt-get install {_PACKAGES}")

    def identify(self) -> ToolchainInfo:
        """See `ports.Toolchain`."""
        return self._gcc.identify()

    def compile(self, source: Path, target: Path, flags: Sequence[str]) -> None:
        """See `ports.Toolchain`."""
        self._gcc.compile(source, target, flags)

    def archive(self, objects: Sequence[Path], target: Path) -> None:
        """See `ports.Toolchain`."""
        self._gcc.archive(objects, target)

    def link(self, inputs: Sequence[Path], script: Path, target: Path, flags: Sequence[str]) -> None:
        """See `ports.Toolchain`."""
        self._gcc.link(inputs, script, target, [*_LINK_FLAGS, *flags])

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
        from harness.toolchains.elf import read_flash_image  # noqa: PLC0415 - as above

        return read_flash_image(elf)
