"""A TFLM made for tests, with the interface of today and few operators: its headers and a library of it.

It allocates in TFLM's order and with TFLM's sizes, so that the arena's figures can be checked against the estimate. It
reads models of one subgraph (kernels/micro_ops.h has the operators).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from harness.domain.firmware import Registration, TflmSource
from harness.files.cache import fingerprint
from harness.ports import Progress, Toolchain
from harness.tflm.operators import resolver_operators
from tests.support.tflm_parts import RESOLVER

HEADERS = Path(__file__).parent / "2026"
DEFINES: Mapping[str, str | None] = {"NDEBUG": None, "TF_LITE_STATIC_MEMORY": None}
REGISTRATIONS = tuple(found.registration for found in resolver_operators((HEADERS / RESOLVER).read_text("utf-8")).known)
FLAGS = ("-std=c++17", "-Wall", "-Wextra", "-Werror", "-fno-exceptions", "-fno-rtti", "-ffunction-sections")


def build_library(
    toolchain: Toolchain,
    flags: Sequence[str],
    folder: Path,
    sources: Path = HEADERS,
    defines: Iterable[str] = tuple(DEFINES),
) -> Path:
    """Compile the library.

    Args:
        toolchain: by which compiler.
        flags: those of its ABI, and how to optimize.
        folder: where it is to lie.
        sources: of it, a variant's for instance.
        defines: preprocessor symbols.
    """
    objects = []
    for source in sorted(sources.rglob("*.cc")):
        objects.append(folder / f"{source.stem}.o")
        symbols = [f"-D{define}" for define in defines]
        toolchain.compile(source, objects[-1], ["-fno-short-enums", *flags, *FLAGS, *symbols, f"-I{sources}"])
    library = folder / "libtflm.a"
    toolchain.archive(objects, library)
    return library


@dataclass(frozen=True)
class FakeTflm:
    """Provides the library.

    Attributes:
        library: that `build_library` has made.
        registrations: the operators to register.
        defines: further preprocessor symbols for the firmware.
    """

    library: Path
    registrations: tuple[Registration, ...] = REGISTRATIONS
    defines: Mapping[str, str | None] = field(default_factory=dict)

    def fetch(self, progress: Progress) -> TflmSource:
        """See `ports.TflmProvider`."""
        return TflmSource(
            generation="2026-01",
            version="made for tests",
            content_hash=fingerprint(self.library.read_bytes()),
            include_dirs=(HEADERS,),
            sources=(),
            defines={**DEFINES, **self.defines},
            registrations=self.registrations,
            libraries=(self.library,),
            header_hash=fingerprint(*(path.read_bytes() for path in sorted(HEADERS.rglob("*.h")))),
        )
