"""Plug-ins are found by entry-point name, at the moment they are needed."""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

from harness.errors import PluginError
from harness.ports import Flasher, Packager, TflmProvider, Toolchain, Transport, UnitSource

TFLM = "harness.tflm"
TOOLCHAINS = "harness.toolchains"
FLASHERS = "harness.flashers"
PACKAGERS = "harness.packagers"
TRANSPORTS = "harness.transports"
UNITS = "harness.units"

PREBUILT = "prebuilt"
"""The TFLM provider that is nothing without a manifest."""
_MANIFEST_SUFFIX = ".toml"


def tflm_provider(name: str) -> TflmProvider:
    """The TFLM provider called `name`; for the path of a manifest, the one of libraries built by somebody else."""
    provider: TflmProvider = _load(TFLM, PREBUILT)(Path(name)) if is_manifest(name) else _load(TFLM, name)()
    return provider


def is_manifest(name: str) -> bool:
    """Whether the name of a TFLM provider is the path of a manifest."""
    return name.endswith(_MANIFEST_SUFFIX)


def toolchain(name: str) -> Toolchain:
    """The toolchain called `name`."""
    chosen: Toolchain = _load(TOOLCHAINS, name)()
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
        place = "after --tflm; a manifest ends in .toml" if group == TFLM else "in the board file"
        raise PluginError(
            f"no plug-in {name!r} in {group}",
            expected=f"one of {', '.join(sorted(found)) or 'none installed'}",
            hint=f"install the package that brings it, or correct the name {place}",
        )
    try:
        return found[name].load()
    except ImportError as error:
        raise PluginError(
            f"the plug-in {name!r} of {group} cannot be loaded: {error}",
            hint="install its extra, for example: pip install 'harness[virtual]'",
        ) from error
