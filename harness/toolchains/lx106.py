"""Debian's compiler for Xtensa's lx106 core, completed so that it serves the ESP32.

Its libgcc leaves arithmetic to a ROM that the ESP32 does not have; compiler-rt's sources, which a PyPI package carries,
fill the gap. It comes without a C++ library: TFLM needs its headers only, which the arm compiler's package has.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Sequence
from functools import cache, cached_property
from importlib import metadata, resources
from pathlib import Path

from harness.domain.firmware import ToolchainInfo
from harness.errors import ToolchainError
from harness.files.cache import Cache, fingerprint
from harness.toolchains.gcc import Gcc

_PREFIX = "xtensa-lx106-elf-"
_HEADER_SOURCE = "arm-none-eabi-g++"
_SPECS = Path("lib/xtensa-lx106-elf/picolibc.specs")
"""The C library, from the folder above the compiler's."""
_COMPILER_RT = "pythondata-software-compiler-rt"
HELPERS = (
    "adddf3", "addsf3", "divdf3", "divdi3", "divsi3", "extendsfdf2", "fixdfsi", "fixunsdfsi", "fixunssfsi",
    "floatsidf", "floatsisf", "floatunsidf", "floatunsisf", "muldf3", "muldi3", "mulsf3", "subdf3", "subsf3",
    "truncdfsf2", "udivdi3", "udivmoddi4", "udivmodsi4", "udivsi3", "umoddi3", "umodsi3",
)  # fmt: skip
"""Sources of compiler-rt for what Debian's libgcc lacks, and for what these call. Of divsf3, libgcc has its own."""
_OWN_HELPER = Path(__file__).with_name("umulsidi3.c")
HELPER_FLAGS = ("-O2", "-fwrapv", "-ffunction-sections", "-w", "-std=gnu99")
"""`-fwrapv`: floatsidf negates the smallest integer, and is wrong where the compiler takes that for impossible."""


class Lx106:
    """The compiler, and what it lacks.

    Args:
        name: the toolchain's plug-in name.
        install_hint: how the user gets it.
    """

    def __init__(self, name: str, install_hint: str) -> None:
        self.gcc = Gcc(name, _PREFIX, install_hint, linker="gcc")
        self._install_hint = install_hint

    def identify(self) -> ToolchainInfo:
        """Which compiler it is, completed by what.

        Raises:
            ToolchainError: a part is missing.
        """
        found = self.gcc.identify()
        specs = found.path.parent.parent / _SPECS
        if not specs.is_file():
            raise ToolchainError(
                "the C library for Debian's Xtensa compiler is missing", where=specs, hint=self._install_hint
            )
        _cxx_headers()
        return ToolchainInfo(
            found.name,
            f"{found.version} with compiler-rt {_helper_version()}",
            found.path,
            remark="Debian's compiler for a core without floating-point unit: the ESP32 computes floats in software, "
            "slower than with xtensa-esp32-elf-g++ on PATH; arena bytes are the same",
        )

    def compile_flags(self, source: Path) -> Sequence[str]:
        """What a source needs to find the C and C++ libraries' headers."""
        headers = _cxx_headers() if source.suffix in {".cc", ".cpp"} else ()
        return [self._library_flag, *(f"-isystem{folder}" for folder in headers)]

    def link_flags(self) -> Sequence[str]:
        """What the linker needs to find the C library and the missing functions.

        Raises:
            ToolchainError, BuildError, StorageError: these cannot be compiled.
        """
        # Whole: the C library, which the linker reads later, needs some of them.
        return [self._library_flag, f"-Wl,--whole-archive,{self._helpers()},--no-whole-archive"]

    @cached_property
    def _library_flag(self) -> str:
        return f"--specs={self.gcc.identify().path.parent.parent / _SPECS}"

    def _helpers(self) -> Path:
        """The library of the missing functions, compiled once."""
        key = fingerprint(
            self.gcc.identify().version, _helper_version(), *HELPERS, *HELPER_FLAGS, _OWN_HELPER.read_bytes()
        )
        return Cache().entry("compiler-rt", key, self._make_helpers) / "libhelpers.a"

    def _make_helpers(self, folder: Path) -> None:
        sources = helper_sources()
        objects = [folder / f"{source.stem}.o" for source in sources]
        for source, target in zip(sources, objects, strict=True):
            self.gcc.compile(source, target, HELPER_FLAGS)
        self.gcc.archive(objects, folder / "libhelpers.a")


def helper_sources() -> list[Path]:
    """The sources of all functions that Debian's libgcc lacks.

    Raises:
        ToolchainError: the package that carries them is missing.
    """
    _helper_version()
    folder = Path(str(resources.files("pythondata_software_compiler_rt") / "data/lib/builtins"))
    return [*(folder / f"{name}.c" for name in HELPERS), _OWN_HELPER]


def _helper_version() -> str:
    try:
        return metadata.version(_COMPILER_RT)
    except metadata.PackageNotFoundError as error:
        raise ToolchainError(
            f"the Python package {_COMPILER_RT} is missing: Debian's Xtensa compiler needs it for divisions and floats",
            hint=f"pip install 'harness[esp32]', which brings {_COMPILER_RT}",
        ) from error


@cache
def _cxx_headers() -> tuple[str, ...]:
    """The folders of C++ headers that the arm compiler would search."""
    if shutil.which(_HEADER_SOURCE) is None:
        raise ToolchainError(
            f"{_HEADER_SOURCE} is not installed; Debian's Xtensa compiler borrows its C++ headers",
            hint="sudo apt-get install libstdc++-arm-none-eabi-newlib",
        )
    command = [_HEADER_SOURCE, "-E", "-v", "-x", "c++", "/dev/null"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return tuple(re.findall(r"^ (\S*/c\+\+/\S*)$", done.stderr, re.MULTILINE))
