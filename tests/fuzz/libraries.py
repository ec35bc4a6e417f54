"""Damaged static libraries, as a broken build or a bad download leaves them."""

from __future__ import annotations

import random
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from harness.tflm.abi import Flags
from harness.tflm.archive import read_library
from harness.tflm.compatibility import compare
from harness.toolchains.arm_gcc import ArmGcc
from tests.fuzz.mutations import mutated_stream

FLAGS = ("-mcpu=cortex-m4", "-mthumb", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16", "-fno-short-enums")
# Of archive members, of ELF files and of the attributes behind their code: most bytes elsewhere mean nothing.
_HEADER_MARKS = (b"`\n", b"\x7fELF", b"aeabi")
_HEADER_BYTES = 64


@dataclass(frozen=True)
class Sound:
    """What damaged libraries are made from.

    Attributes:
        folder: where everything lies; it goes with the process.
        library: a library of a few objects.
        headers: where headers begin in it.
        probe: an object that all of them fit.
    """

    folder: tempfile.TemporaryDirectory[str]
    library: bytes
    headers: tuple[int, ...]
    probe: Path


@cache
def sound() -> Sound:
    """Objects of a real compiler in an archive of a real archiver."""
    kept = tempfile.TemporaryDirectory(prefix="harness-fuzz-")
    folder, toolchain = Path(kept.name), ArmGcc()
    texts = {
        f"kernel_with_a_long_name_{number}": f"int Register_{number}() {{ return {number}; }}" for number in range(3)
    }
    for name, text in {**texts, "probe": ""}.items():
        (folder / f"{name}.cc").write_text(text)
        toolchain.compile(folder / f"{name}.cc", folder / f"{name}.o", FLAGS)
    toolchain.archive([folder / f"{name}.o" for name in texts], folder / "libsound.a")
    library = (folder / "libsound.a").read_bytes()
    headers = [at for at in range(len(library)) if library.startswith(_HEADER_MARKS, at)]
    return Sound(kept, library, tuple(headers), folder / "probe.o")


def any_library(numbers: random.Random) -> bytes:
    """A damaged library."""
    data = bytearray(sound().library)
    if numbers.random() < 0.3:
        return mutated_stream(numbers, bytes(data))
    for _ in range(numbers.randint(1, 6)):
        at = numbers.choice(sound().headers) + numbers.randrange(-_HEADER_BYTES, _HEADER_BYTES)
        data[at % len(data)] = numbers.choice((0, 0xFF, *b"0123456789-/# ", numbers.randrange(256)))
    return bytes(data)


def look_into(data: bytes) -> bool:
    """Read a library and compare its objects; whether nothing is wrong with it.

    Raises:
        SourceError: it cannot be used.
    """
    path = Path(sound().folder.name) / "libdamaged.a"
    path.write_bytes(data)
    return not [*compare([read_library(path)], "reference", sound().probe, Flags(FLAGS))]
