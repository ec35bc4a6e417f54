"""The estimate: what a model will take of the arena, worked out from its file alone."""

from __future__ import annotations

from harness.estimate.api import DEFAULT_ARENA_BYTES, device_refusals, estimate, load_graph
from harness.estimate.generation import installed_generations, struct_sizes
from harness.estimate.model_file import ModelFile, file_name, read_model

__all__ = [
    "DEFAULT_ARENA_BYTES",
    "ModelFile",
    "device_refusals",
    "estimate",
    "file_name",
    "installed_generations",
    "load_graph",
    "read_model",
    "struct_sizes",
]
