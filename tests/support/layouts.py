"""Models that are laid out as TFLM 2026-08 does, and what its arena is asked for."""

from __future__ import annotations

from harness.domain.estimate import Profile
from harness.estimate import ModelFile, load_graph
from harness.estimate.layout.arena import Allocate
from harness.estimate.layout.generation import Layout, generation_of
from tests.support.models import ModelBuilder

ARM = Profile("2026-08", "arm32")
CMSIS = Profile("2026-08", "arm32", "cmsis-nn")


def layout(model: ModelBuilder, profile: Profile = ARM) -> Layout:
    generation = generation_of(profile)
    return generation.lay_out(load_graph(ModelFile.of("m", model.build())), generation.target(profile))


def requested(model: ModelBuilder, section: str, profile: Profile = ARM) -> list[int]:
    """The sizes of a section's allocations, in order, without padding."""
    events = layout(model, profile).trace
    return [event.size_bytes for event in events if isinstance(event, Allocate) and event.section == section]


def scratch(model: ModelBuilder, profile: Profile = ARM) -> list[int]:
    """What the planner is given for scratch, in order."""
    found = layout(model, profile)
    tensors = sum(owner.label.startswith("subgraph") for owner in found.owners)
    return [buffer.size_bytes for buffer in found.buffers[tensors:]]


def convolution(filter_type: str = "int8", element: str = "int8", side: int = 3, channels: int = 4) -> ModelBuilder:
    model = ModelBuilder()
    x = model.input("x", [1, 8, 8, channels], element, scales=1)
    weights = model.constant("w", [2, side, side, channels], filter_type, scales=2)
    y = model.tensor("y", [1, 8, 8, 2], element, scales=1)
    model.operator("CONV_2D", [x, weights, -1], [y], ("Conv2DOptions", {"StrideW": 1, "StrideH": 1}))
    model.output(y)
    return model
