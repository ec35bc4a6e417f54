"""The assembled guest shim, made once and kept in the user's cache."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import tempfile
from importlib import resources
from pathlib import Path

import platformdirs

from harness.errors import StorageError, ToolchainError
from harness.virtual.esp32.guest import SHIM_LINKED_AT

_PREFIXES = ("xtensa-lx106-elf-", "xtensa-esp32-elf-")
_AS_FLAGS = ("--no-transform", "--no-target-align", "--no-longcalls")
_LD_FLAGS = ("--no-relax", "--oformat", "binary", f"-Ttext={SHIM_LINKED_AT:#x}", "-e", "start")


def assembled() -> bytes:
    """The shim's bytes, for address `SHIM_LINKED_AT`.

    Raises:
        ToolchainError: there is no Xtensa assembler, or it refuses the source.
        StorageError: the cache folder cannot be written.
    """
    source = resources.files(__package__).joinpath("shim.s").read_bytes()
    cached = platformdirs.user_cache_path("harness") / "virtual" / f"esp32-shim-{hashlib.sha256(source).hexdigest()}"
    try:
        if not cached.exists():
            cached.parent.mkdir(parents=True, exist_ok=True)
            _assemble(source, cached)
        return cached.read_bytes()
    except OSError as error:
        raise StorageError(f"cannot keep the ESP32's guest shim: {error.strerror}", where=cached) from error


def _assemble(source: bytes, target: Path) -> None:
    """Assemble into a folder of its own, then move: two boards may start at once."""
    prefix = _toolchain_prefix()
    with tempfile.TemporaryDirectory(dir=target.parent) as folder:
        work = Path(folder)
        (work / "shim.s").write_bytes(source)
        _run([prefix + "as", *_AS_FLAGS, "-o", "shim.o", "shim.s"], work)
        _run([prefix + "ld", *_LD_FLAGS, "-o", "shim.bin", "shim.o"], work)
        (work / "shim.bin").replace(target)


def _toolchain_prefix() -> str:
    for prefix in _PREFIXES:
        if shutil.which(prefix + "as") and shutil.which(prefix + "ld"):
            return prefix
    raise ToolchainError(
        "no Xtensa assembler for the virtual ESP32",
        expected=" or ".join(prefix + "as" for prefix in _PREFIXES),
        hint="apt-get install gcc-xtensa-lx106",
    )


def _run(command: list[str], folder: Path) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ToolchainError(
            "cannot assemble the guest shim", where=command[0], measured=done.stderr.strip().rpartition("\n")[2]
        )
