"""Finder of the other projects that TFLM's sources need: in the tree, beside it, or where the user says."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.errors import SourceError
from harness.files.safe import read_bounded
from harness.tflm.tree_layouts import DOWNLOADS, Tree

# Relative to the folder that `tensorflow/` lies in.
_HOMES = ("third_party", "third_party_static", DOWNLOADS, "..", "../third_party", "../modules/lib", "../modules/hal")
_SCHEMAS = ("tensorflow/compiler/mlir/lite/schema/schema_generated.h", "tensorflow/lite/schema/schema_generated.h")
_WANTED_VERSION = re.compile(r"FLATBUFFERS_VERSION_(MAJOR|MINOR|REVISION)\s*==\s*(\d+)")
_VERSION = re.compile(r"#\s*define\s+FLATBUFFERS_VERSION_(MAJOR|MINOR|REVISION)\s+(\d+)")
_LIMIT_BYTES = 8 * 1024 * 1024


@dataclass(frozen=True)
class ThirdParty:
    """A project that TFLM includes headers of.

    Attributes:
        name: its folder's usual name.
        header: one of its headers, as TFLM includes it.
        below: where its include folder lies in its own.
        others: other names of its folder.
    """

    name: str
    header: str
    below: tuple[str, ...] = (".",)
    others: tuple[str, ...] = ()


FLATBUFFERS = ThirdParty("flatbuffers", "flatbuffers/flatbuffers.h", ("include", "."))
_NEEDED = (
    FLATBUFFERS,
    ThirdParty("gemmlowp", "fixedpoint/fixedpoint.h"),
    ThirdParty("ruy", "ruy/profiler/instrumentation.h"),
)
KISSFFT = ThirdParty("kissfft", "kiss_fft.h")
"""Only the signal library needs it: without it, its operators are left out."""

_CMSIS_CORE = ThirdParty(
    "cmsis", "cmsis_compiler.h", ("CMSIS/Core/Include", "Core/Include", "."), ("cmsis_6", "CMSIS_6")
)
OPTIMISED = {
    "cmsis-nn": ThirdParty("cmsis_nn", "Include/arm_nnfunctions.h", (".",), ("cmsis-nn", "CMSIS-NN", "cmsis/CMSIS/NN")),
    "esp-nn": ThirdParty("esp_nn", "include/esp_nn.h", (".",), ("esp-nn", "espressif__esp-nn")),
}
"""The library that an optimised kernel set calls."""


def third_party_folders(tree: Tree, more: Sequence[Path]) -> tuple[Path, ...]:
    """The include folders of what every tree needs, and of what the signal library needs where that is there.

    Args:
        tree: the tree.
        more: folders that the user named; searched first.

    Raises:
        SourceError: one is missing, or flatbuffers is of another version than the schema was made for.
    """
    found = []
    for part in _NEEDED:
        folder = _find(tree, part, more)
        if folder is None:
            raise _missing(tree, part)
        found.append(folder)
    _check_flatbuffers(tree, found[0])
    kissfft = _find(tree, KISSFFT, more)
    return tuple(dict.fromkeys([*more, *found, *([kissfft] if kissfft else [])]))


def optimised_library(tree: Tree, kernels: str, named: Path | None) -> Path:
    """The folder of CMSIS-NN or ESP-NN.

    Args:
        tree: the tree.
        kernels: the kernel set that calls it.
        named: the folder that the user named, if any.

    Raises:
        SourceError: it is not there.
    """
    part = OPTIMISED[kernels]
    if named is not None:
        if not (named / part.header).is_file():
            raise SourceError(f"this is no {kernels.upper()}", where=named, measured=f"no {part.header} in it")
        return named.resolve()
    folder = _find(tree, part, ())
    if folder is None:
        raise _missing(tree, part, f"name its folder with --{kernels}")
    return folder


def cmsis_core(tree: Tree, more: Sequence[Path]) -> tuple[Path, ...]:
    """The include folder of CMSIS-Core, which older releases of CMSIS-NN include headers of; nothing without one."""
    folder = _find(tree, _CMSIS_CORE, more)
    return (folder,) if folder else ()


def _find(tree: Tree, part: ThirdParty, more: Sequence[Path]) -> Path | None:
    candidates = (*more, *(place / below for place in _places(tree, part) for below in part.below))
    return next((folder.resolve() for folder in candidates if (folder / part.header).is_file()), None)


def _places(tree: Tree, part: ThirdParty) -> Iterator[Path]:
    for home in _HOMES:
        for name in (part.name, *part.others):
            yield tree.root / home / name


def _missing(tree: Tree, part: ThirdParty, remedy: str = "name its folder with --include") -> SourceError:
    return SourceError(
        f"{part.name} is missing: TFLM includes {part.header}",
        where=tree.folder,
        expected=f"in {', '.join(f'{home}/{part.name}' for home in _HOMES[:3])}, or beside the tree",
        hint=f"{remedy}; a checkout of tflite-micro fetches it: make -f tensorflow/lite/micro/tools/make/Makefile "
        "third_party_downloads",
    )


def _check_flatbuffers(tree: Tree, folder: Path) -> None:
    """The generated schema asserts the version of flatbuffers that it was generated with."""
    wanted = next((version for name in _SCHEMAS if (version := _version(tree.root / name, _WANTED_VERSION))), None)
    found = _version(folder / "flatbuffers/base.h", _VERSION)
    if wanted and found and wanted != found:
        raise SourceError(
            "flatbuffers is of another version than TFLM's schema was made for",
            where=folder,
            measured=found,
            expected=wanted,
            hint="take the flatbuffers that this TFLM comes with, or name its folder with --include",
        )


def _version(path: Path, pattern: re.Pattern[str]) -> str:
    if not path.is_file():
        return ""
    parts = dict(pattern.findall(read_bounded(path, _LIMIT_BYTES, SourceError).decode("utf-8", "replace")))
    return ".".join(parts[name] for name in ("MAJOR", "MINOR", "REVISION") if name in parts)
