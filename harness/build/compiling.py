"""Compiling of many sources with the same flags, on all processors."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

from harness.build.inputs import CXX_FLAGS
from harness.ports import Progress, Toolchain

_CXX_SUFFIXES = frozenset({".cc", ".cpp"})


@dataclass(frozen=True)
class Batch:
    """Sources to compile with the same flags.

    Attributes:
        what: how progress calls it.
        sources: the files.
        flags: of all of them; C++ sources get those of C++ besides.
    """

    what: str
    sources: Sequence[Path]
    flags: Sequence[str]


def compile_all(batch: Batch, toolchain: Toolchain, folder: Path, progress: Progress) -> list[Path]:
    """Compile a batch into `folder`; returns the object files, in the order of the sources.

    After an error or Ctrl-C the sources not yet begun are dropped; the compilers that run end before it returns.
    """
    objects = [folder / name for name in object_names(batch.sources)]
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        futures = [
            pool.submit(toolchain.compile, source, target, flags_for(source, batch.flags))
            for source, target in zip(batch.sources, objects, strict=True)
        ]
        progress(batch.what, 0, len(futures))
        try:
            for done, future in enumerate(as_completed(futures), start=1):
                future.result()
                progress(batch.what, done, len(futures))
        except BaseException:
            pool.shutdown(wait=True, cancel_futures=True)
            raise
    return objects


def object_names(sources: Sequence[Path]) -> list[str]:
    """A file name for the object of each source: numbered, since sources of different folders share names."""
    return [f"{number:03}-{source.stem}.o" for number, source in enumerate(sources)]


def flags_for(source: Path, flags: Sequence[str]) -> list[str]:
    """The flags of one source of a batch."""
    return [*flags, *CXX_FLAGS] if source.suffix in _CXX_SUFFIXES else list(flags)
