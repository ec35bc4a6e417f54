"""Choice of the files in a source tree that a firmware is compiled from, and of the kernels among them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from harness.errors import SourceError, UsageError
from harness.tflm.cpp_text import without_comments
from harness.tflm.tree_layouts import MICRO, SOURCE_SUFFIXES, Tree, has_source

REFERENCE = "reference"
OVERLAYS: Mapping[str, str] = MappingProxyType({"cmsis-nn": "cmsis_nn", "esp-nn": "esp_nn"})
"""By kernel set, the folder below micro/kernels whose files stand in for the reference kernels of the same name."""

_KERNELS = f"{MICRO}/kernels"
_IN_2020 = (
    "c/common.c",
    "core/api/*.cc",
    "kernels/internal/quantization_util.cc",
    "kernels/kernel_util.cc",
    "micro/*.cc",
    "micro/kernels/*.cc",
    "micro/memory_planner/*.cc",
)
# The Makefile of tflite-micro takes all of tensorflow/lite but micro and experimental, and there is nothing else in it.
_FOLDERS = (
    "tensorflow/lite",
    "tensorflow/lite/c",
    "tensorflow/lite/core",
    "tensorflow/lite/core/api",
    "tensorflow/lite/core/c",
    "tensorflow/lite/kernels",
    "tensorflow/lite/kernels/internal",
    "tensorflow/lite/kernels/internal/reference",
    "tensorflow/lite/schema",
    "tensorflow/compiler/mlir/lite/core/api",
    "tensorflow/compiler/mlir/lite/core/c",
    "tensorflow/compiler/mlir/lite/schema",
    MICRO,
    f"{MICRO}/arena_allocator",
    f"{MICRO}/memory_planner",
    f"{MICRO}/tflite_bridge",
    _KERNELS,
)
SIGNAL_FOLDERS = ("signal/micro/kernels", "signal/src", "signal/src/kiss_fft_wrappers")
"""The signal library: compiled where its Fourier transform is there."""

_TESTS = re.compile(r"_test$|^test_|^fake_|^mock_|^kernel_runner$|_test_data$|^recording_.*_test")
# Output, time and start-up are the firmware's own matter, and the Arduino IDE's in its libraries.
_PLATFORM = frozenset({"debug_log", "micro_time", "system_setup"})
_DEFINED = re.compile(r"\b(Register_\w+)\s*\(\s*(?:void\s*)?\)\s*\{")


def sources_of_2020(lite: Path) -> tuple[Path, ...]:
    """The sources of TFLM 2020-07.

    Args:
        lite: the folder `tensorflow/lite`, which holds all of TensorFlow Lite beside them.
    """
    found = sorted(path for pattern in _IN_2020 for path in lite.glob(pattern))
    return tuple(path for path in found if not path.stem.endswith("_test") and path.stem != "debug_log")


@dataclass(frozen=True)
class Kernels:
    """The kernels of a tree.

    Attributes:
        kernels: the kernel set.
        sources: the files to compile.
    """

    kernels: str
    sources: tuple[Path, ...]


def tree_sources(tree: Tree, kernels: str | None, *, with_signal: bool) -> Kernels:
    """The sources of a tree of 2022 or later.

    Args:
        tree: which.
        kernels: the kernel set; None for the reference kernels, or, in a tree that lacks some of these, the set that
            stands in for them.
        with_signal: whether the signal library can be compiled.

    Raises:
        UsageError: the tree does not have these kernels.
    """
    folders = (*_FOLDERS, *(SIGNAL_FOLDERS if with_signal else ()))
    found = [path for folder in folders for path in _sources_in(tree.root / folder) if _is_wanted(path)]
    kernels = kernels or _complete_set(tree)
    if kernels == REFERENCE:
        _refuse_gaps(tree)
        return Kernels(kernels, tuple(found))
    overlay = _overlay(tree, kernels)
    replaced = {path.stem for path in overlay}
    folder = tree.root / _KERNELS
    kept = [path for path in found if path.parent != folder or path.stem not in replaced]
    return Kernels(kernels, (*kept, *overlay))


def defined_operators(sources: Iterable[Path], texts: Mapping[Path, str]) -> frozenset[str]:
    """The functions `Register_…` that sources define, without namespaces.

    Args:
        sources: which.
        texts: their contents.
    """
    return frozenset(name for path in sources for name in _DEFINED.findall(without_comments(texts[path])))


def optimised_sources(folder: Path, kernels: str) -> tuple[Path, ...]:
    """The sources of the library that optimised kernels call: CMSIS-NN, or ESP-NN's portable half.

    Args:
        folder: of the library.
        kernels: the kernel set.

    Raises:
        SourceError: it is no such library.
    """
    if kernels == "esp-nn":
        found = sorted(path for path in folder.glob("src/*/*.c") if path.stem.endswith(("_ansi", "_opt")))
    else:
        found = sorted(folder.glob("Source/*/*.c"))
    if not found:
        raise SourceError(f"this is no {kernels.upper()}", where=folder, hint="name the folder of its sources")
    return tuple(found)


def _sources_in(folder: Path) -> Iterator[Path]:
    if folder.is_dir():
        yield from sorted(path for path in folder.iterdir() if path.suffix in SOURCE_SUFFIXES and path.is_file())


def _is_wanted(path: Path) -> bool:
    return not _TESTS.search(path.stem) and path.stem not in _PLATFORM


def _overlay(tree: Tree, kernels: str) -> Sequence[Path]:
    folder = tree.root / _KERNELS / OVERLAYS[kernels]
    found = [path for path in _sources_in(folder) if _is_wanted(path)]
    if not found:
        raise UsageError(
            f"the tree has no kernels for {kernels}",
            where=tree.folder,
            measured=f"no sources in {_KERNELS}/{OVERLAYS[kernels]}",
            expected=f"{' or '.join((REFERENCE, *_overlays_of(tree)))}",
            hint="choose another --kernels",
        )
    return found


def _overlays_of(tree: Tree) -> list[str]:
    return [name for name, folder in OVERLAYS.items() if any(_sources_in(tree.root / _KERNELS / folder))]


def _complete_set(tree: Tree) -> str:
    """The reference kernels, or, where a tree was made for an optimised set and lacks those, that set."""
    if has_source(tree.root, f"{_KERNELS}/conv"):
        return REFERENCE
    return next(iter(_overlays_of(tree)), REFERENCE)


def _refuse_gaps(tree: Tree) -> None:
    name = _complete_set(tree)
    if name != REFERENCE:
        raise UsageError(
            "the tree lacks reference kernels",
            where=tree.folder,
            measured=f"no {_KERNELS}/conv.cc, only {_KERNELS}/{OVERLAYS[name]}/conv.cc",
            hint=f"--kernels {name}",
        )
