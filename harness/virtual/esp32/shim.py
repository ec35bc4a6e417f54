"""The guest shim, assembled and compiled once and kept in the user's cache."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from importlib import resources
from pathlib import Path

from harness.errors import StorageError, ToolchainError
from harness.files.folders import cache_folder

_ESPRESSIF = "xtensa-esp32-elf-"
_PREFIXES = ("xtensa-lx106-elf-", _ESPRESSIF)
_PROGRAMS = ("as", "gcc", "ld")
_SOURCES = ("shim.s", "cache.c", "shim.ld")
_AS_FLAGS = ("--no-transform", "--no-target-align", "--no-longcalls")
_CC_FLAGS = ("-O2", "-ffreestanding", "-fno-tree-loop-distribute-patterns", "-mtext-section-literals", "-w", "-c")
_CALL0 = ("-mabi=call0",)
"""For Espressif's compiler, which would use register windows; Debian's has no others."""
_LD_FLAGS = ("--no-relax", "--oformat", "binary", "-T", "shim.ld")


def assembled() -> bytes:
    """The shim's bytes, for the address where `guest` puts it.

    Raises:
        ToolchainError: there is no Xtensa compiler, or it refuses a source.
        StorageError: the cache folder cannot be written.
    """
    sources = {name: resources.files(__package__).joinpath(name).read_bytes() for name in _SOURCES}
    digest = hashlib.sha256(b"\0".join(sources.values())).hexdigest()
    cached = cache_folder() / "virtual" / f"esp32-shim-{digest}"
    try:
        if not cached.exists():
            cached.parent.mkdir(parents=True, exist_ok=True)
            _build(sources, cached)
        return cached.read_bytes()
    except OSError as error:
        raise StorageError(f"cannot keep the ESP32's guest shim: {error.strerror}", where=cached) from error


def _build(sources: Mapping[str, bytes], target: Path) -> None:
    """Build in a folder of its own, then move: two boards may start at once."""
    prefix = _toolchain_prefix()
    with tempfile.TemporaryDirectory(dir=target.parent) as folder:
        work = Path(folder)
        for name, source in sources.items():
            (work / name).write_bytes(source)
        abi = _CALL0 if prefix == _ESPRESSIF else ()
        _run([prefix + "as", *_AS_FLAGS, "-o", "shim.o", "shim.s"], work)
        _run([prefix + "gcc", *abi, *_CC_FLAGS, "-o", "cache.o", "cache.c"], work)
        _run([prefix + "ld", *_LD_FLAGS, "-o", "shim.bin", "shim.o", "cache.o"], work)
        (work / "shim.bin").replace(target)


def _toolchain_prefix() -> str:
    for prefix in _PREFIXES:
        if all(shutil.which(prefix + program) for program in _PROGRAMS):
            return prefix
    raise ToolchainError(
        "no Xtensa compiler for the virtual ESP32",
        expected=" or ".join(prefix + "gcc" for prefix in _PREFIXES),
        hint="apt-get install gcc-xtensa-lx106",
    )


def _run(command: list[str], folder: Path) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ToolchainError(
            "cannot build the guest shim", where=command[0], measured=done.stderr.strip().rpartition("\n")[2]
        )
