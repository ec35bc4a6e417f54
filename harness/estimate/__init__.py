"""The estimate: what a model will take of the arena, worked out from its file alone.

This is the facade: everybody else imports from here, and only from here. What a name stands for is imported when it is
first asked for, since a command that reads a model needs neither planners nor the wheel.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harness.estimate.analysis.compare import analyse, compare
    from harness.estimate.analysis.offline_plan import plan_offline
    from harness.estimate.corrections import (
        corrected,
        default_dir,
        load_correction,
        same_but_for_the_date,
        to_toml,
        uncorrected,
    )
    from harness.estimate.external import external_estimates, read_external
    from harness.estimate.host.estimate import HOST_PROFILE, host_estimate
    from harness.estimate.host.run import host_run
    from harness.estimate.layout.generation import basis_of, has_profile, installed_generations, struct_sizes
    from harness.estimate.one_model import DEFAULT_ARENA_BYTES, device_refusals, estimate
    from harness.estimate.reading.foreign import foreign_advice
    from harness.estimate.reading.model_file import ModelFile, file_name, read_model
    from harness.estimate.reading.npy import array_bytes
    from harness.estimate.shapes.open_dimensions import load_graph
    from harness.estimate.shapes.resize import parse_input_shape
    from harness.estimate.shapes.rewrite import resize_model
    from harness.estimate.shared_arena import shared_estimate, shared_sha256

__all__ = [
    "DEFAULT_ARENA_BYTES",
    "HOST_PROFILE",
    "ModelFile",
    "analyse",
    "array_bytes",
    "basis_of",
    "compare",
    "corrected",
    "default_dir",
    "device_refusals",
    "estimate",
    "external_estimates",
    "file_name",
    "foreign_advice",
    "has_profile",
    "host_estimate",
    "host_run",
    "installed_generations",
    "load_correction",
    "load_graph",
    "parse_input_shape",
    "plan_offline",
    "read_external",
    "read_model",
    "resize_model",
    "same_but_for_the_date",
    "shared_estimate",
    "shared_sha256",
    "struct_sizes",
    "to_toml",
    "uncorrected",
]

_HOMES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "analysis.compare": ("analyse", "compare"),
        "analysis.offline_plan": ("plan_offline",),
        "corrections": (
            "corrected",
            "default_dir",
            "load_correction",
            "same_but_for_the_date",
            "to_toml",
            "uncorrected",
        ),
        "external": ("external_estimates", "read_external"),
        "host.estimate": ("HOST_PROFILE", "host_estimate"),
        "host.run": ("host_run",),
        "layout.generation": ("basis_of", "has_profile", "installed_generations", "struct_sizes"),
        "one_model": ("DEFAULT_ARENA_BYTES", "device_refusals", "estimate"),
        "reading.foreign": ("foreign_advice",),
        "reading.model_file": ("ModelFile", "file_name", "read_model"),
        "reading.npy": ("array_bytes",),
        "shapes.open_dimensions": ("load_graph",),
        "shapes.resize": ("parse_input_shape",),
        "shapes.rewrite": ("resize_model",),
        "shared_arena": ("shared_estimate", "shared_sha256"),
    }
)


def __getattr__(name: str) -> object:
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{home}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
