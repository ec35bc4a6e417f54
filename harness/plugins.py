"""Plug-ins are found by entry-point name, at the moment they are needed."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import MappingProxyType
from typing import Any

from harness.domain.generations import FIRST
from harness.domain.tflm_options import TflmOptions
from harness.errors import PluginError, UsageError
from harness.ports import Family, Flasher, Packager, TflmProvider, Toolchain, Transport, UnitSource

TFLM = "harness.tflm"
TOOLCHAINS = "harness.toolchains"
FAMILIES = "harness.families"
FLASHERS = "harness.flashers"
PACKAGERS = "harness.packagers"
TRANSPORTS = "harness.transports"
UNITS = "harness.units"

PREBUILT = "prebuilt"
"""The TFLM provider that is nothing without a manifest."""
TREE = "tree"
"""The TFLM provider that is nothing without a folder."""
GENERATIONS: Mapping[str, str] = MappingProxyType({"crate": FIRST})
"""The TFLM generation that a provider brings, as far as that is known before anything is fetched."""
_MANIFEST_SUFFIX = ".toml"


def tflm_provider(word: str, options: TflmOptions | None = None) -> TflmProvider:
    """The TFLM provider that a word means; see `tflm_name`.

    Args:
        word: which.
        options: what the user says of a source tree; nothing else has such options.

    Raises:
        UsageError: there is no such TFLM, or it has no options.
    """
    name = tflm_name(word)
    if is_tree(name):
        tree: TflmProvider = _load(TFLM, TREE)(Path(name), options)
        return tree
    if options not in (None, TflmOptions()):
        raise UsageError(
            "only a source tree has a choice of kernels and folders",
            where=f"--tflm {word}",
            expected="the folder of TFLM's sources",
            hint="leave out --kernels, --include, --cmsis-nn and --esp-nn; a manifest has its own keys for them",
        )
    provider: TflmProvider = _load(TFLM, PREBUILT)(Path(name)) if is_manifest(name) else _load(TFLM, name)()
    return provider


def tflm_name(word: str) -> str:
    """What TFLM to build is called: the name of a provider, or the path of a manifest or of a source tree.

    Args:
        word: one of these, or the generation that a provider brings.

    Raises:
        UsageError: it is none of these.
    """
    if is_path(word):
        return word
    names = sorted(installed(TFLM))
    name = next((name for name in names if GENERATIONS.get(name) == word), word)
    if name not in names:
        known = [_with_generation(name) for name in names if name not in (PREBUILT, TREE)]
        raise UsageError(
            f"no TFLM {word!r} can be built here",
            where="--tflm",
            expected=" or ".join([*known, "the folder of TFLM's sources", "the path of a manifest (.toml)"]),
            hint="bring a library of your own, and describe it in a manifest: README, Use your TFLM",
        )
    return name


def _with_generation(name: str) -> str:
    return f"{name} (TFLM {GENERATIONS[name]})" if name in GENERATIONS else name


def is_manifest(name: str) -> bool:
    """Whether the name of a TFLM provider is the path of a manifest."""
    return name.endswith(_MANIFEST_SUFFIX)


def is_tree(name: str) -> bool:
    """Whether the name of a TFLM provider is the path of a source tree; a provider's own name never is."""
    if not name or is_manifest(name) or name in installed(TFLM):
        return False
    return "/" in name or Path(name).is_dir()


def is_path(name: str) -> bool:
    """Whether the name of a TFLM provider is a path: of a manifest, or of a source tree."""
    return is_manifest(name) or is_tree(name)


def toolchain(name: str) -> Toolchain:
    """The toolchain called `name`."""
    chosen: Toolchain = _load(TOOLCHAINS, name)()
    return chosen


def family(name: str) -> Family:
    """The chip family called `name`."""
    chosen: Family = _load(FAMILIES, name)()
    return chosen


def flasher(name: str) -> Flasher:
    """The flasher called `name`."""
    chosen: Flasher = _load(FLASHERS, name)()
    return chosen


def packager(name: str) -> Packager:
    """The packager called `name`."""
    chosen: Packager = _load(PACKAGERS, name)()
    return chosen


def transport(name: str) -> Transport:
    """The transport called `name`."""
    chosen: Transport = _load(TRANSPORTS, name)()
    return chosen


def unit_source(name: str) -> UnitSource:
    """The unit source called `name`."""
    chosen: UnitSource = _load(UNITS, name)()
    return chosen


def installed(group: str) -> dict[str, EntryPoint]:
    """The plug-ins of a group, by name."""
    return {entry.name: entry for entry in entry_points(group=group)}


def _load(group: str, name: str) -> Any:  # noqa: ANN401 - what an entry point holds is only known at run time
    """The class behind a plug-in's name."""
    found = installed(group)
    if name not in found:
        raise PluginError(
            f"no plug-in {name!r} in {group}",
            expected=f"one of {', '.join(sorted(found)) or 'none installed'}",
            hint="install the package that brings it, or correct the name in the board file",
        )
    try:
        return found[name].load()
    except ImportError as error:
        raise PluginError(
            f"the plug-in {name!r} of {group} cannot be loaded: {error}",
            hint="install its extra, for example: pip install 'harness[virtual]'",
        ) from error
