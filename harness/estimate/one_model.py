"""The estimate of one model: from its file to an Estimate."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from harness.domain.estimate import Estimate, Profile, Section
from harness.domain.generations import MEASURED
from harness.domain.graph import Graph
from harness.errors import ModelError, UsageError
from harness.estimate.formula import UNKNOWN_SCRATCH_BYTES, formula_sections
from harness.estimate.layout.arena import ALIGNMENT, Allocate, align_up, replay, size_ending_at, smallest_size
from harness.estimate.layout.generation import Generation, Layout, Target, basis_of, generation_of
from harness.estimate.planning import overlaps
from harness.estimate.reading.checks import check_order, check_shapes, inspect
from harness.estimate.reading.foreign import foreign_advice
from harness.estimate.reading.model_file import ModelFile
from harness.estimate.shapes.empty import check_empty_tensors
from harness.estimate.shapes.open_dimensions import load_graph

_FORMULA_GUESSES: Final = f"the formula does not see scratch: {UNKNOWN_SCRATCH_BYTES} bytes stand for it"

DEFAULT_ARENA_BYTES: Final = 112 * 1024
"""The arena that an estimate is for when nobody says: `arena_used_bytes` depends on the size modulo 16."""


def estimate(  # noqa: PLR0913 - all but the first two are keywords with a sensible default
    model: ModelFile,
    profile: Profile,
    *,
    method: str = "layout",
    graph: Graph | None = None,
    arena_size_bytes: int | None = None,
    margin_percent: float = 0.0,
    board: str | None = None,
) -> Estimate:
    """Estimate the arena of a model.

    Args:
        model: the file.
        profile: TFLM generation, ABI and kernels.
        method: `layout` or `formula`.
        graph: the model's graph, when it is loaded already, or its shapes were changed since.
        arena_size_bytes: the arena that it will run in, its base aligned to 16; 112 KB when not given.
        margin_percent: added to the smallest working arena for the recommendation.
        board: the board it is for, if any.

    Raises:
        ModelError: the model cannot be used, or has operators that this TFLM lacks.
        UsageError: unknown profile or method, or a senseless size or margin.
    """
    purpose = _Purpose(
        profile,
        generation_of(profile),
        DEFAULT_ARENA_BYTES if arena_size_bytes is None else arena_size_bytes,
        margin_percent,
    )
    if purpose.arena_size_bytes <= 0 or margin_percent < 0 or not math.isfinite(margin_percent):
        measured = f"{purpose.arena_size_bytes} and {margin_percent}"
        raise UsageError("arena size and margin must not be negative", measured=measured)
    methods = {"layout": _by_layout, "formula": _by_formula}
    if method not in methods:
        raise UsageError(f"unknown estimate method {method!r}", expected=" or ".join(methods))
    return replace(methods[method](model, graph or load_graph(model), purpose), board=board)


@dataclass(frozen=True)
class _Purpose:
    """What the estimate is for; see `estimate`."""

    profile: Profile
    generation: Generation
    arena_size_bytes: int
    margin_percent: float

    def with_margin(self, size_bytes: int) -> int:
        """A size with the margin on top, as a multiple of 16."""
        return align_up(math.ceil(size_bytes * (1 + self.margin_percent / 100)), ALIGNMENT)


def _by_layout(model: ModelFile, graph: Graph, purpose: _Purpose) -> Estimate:
    generation = purpose.generation
    _check(graph, generation)
    target = generation.target(purpose.profile)
    layout = generation.lay_out(graph, target)
    usage = replay(layout.trace, purpose.arena_size_bytes % ALIGNMENT)
    minimum = smallest_size(layout.trace)
    head = layout.plan.arena_bytes
    return Estimate(
        model=model.name,
        sha256=model.sha256,
        profile=purpose.profile,
        method="layout",
        arena_used_bytes=head + usage.tail_bytes,
        head_bytes=head,
        tail_bytes=usage.tail_bytes,
        min_working_arena_bytes=minimum,
        recommended_arena_bytes=max(purpose.with_margin(minimum), _smallest_multiple_of_16(layout)),
        sections=(Section("planned_tensors_and_scratch", "head", head), *_tail_sections(usage.sections)),
        recorded_sections=_recorded(generation, target, layout, purpose.arena_size_bytes),
        refused_by_tflm=generation.refused(graph),
        unknown_parts=(unknown := generation.unknown_parts(graph, purpose.profile.kernels)),
        warnings=(
            *_basis_warnings(purpose.profile),
            *unknown,
            *inspect(graph).warnings,
            *generation.warnings(graph, purpose.profile.kernels),
            *_overlap_warnings(layout),
        ),
        basis=basis_of(purpose.profile),
    )


def _basis_warnings(profile: Profile) -> tuple[str, ...]:
    if basis_of(profile) == MEASURED:
        return ()
    return (f"figures for {profile.id} were read from TFLM's sources, and not measured yet: run it on the device",)


def device_refusals(graph: Graph, profile: Profile) -> tuple[str, ...]:
    """Why a device with this TFLM must not be given a model: it would refuse it, or read outside its memory.

    Raises:
        ModelError: the model cannot be used at all.
    """
    generation = generation_of(profile)
    check_order(graph)
    check_shapes(graph)
    check_empty_tensors(graph)
    unknown = (f"{place}: TFLM {generation.id} has no such operator" for place in generation.unknown_operators(graph))
    return (*unknown, *inspect(graph).hazards, *generation.refusals(graph))


def _check(graph: Graph, generation: Generation) -> None:
    check_order(graph)
    unknown = generation.unknown_operators(graph)
    if unknown:
        more = f", and {len(unknown) - 1} more" if len(unknown) > 1 else ""
        raise ModelError(
            f"TFLM {generation.id} has no such operator{more}",
            where=f"{graph.model}, {unknown[0]}",
            hint=foreign_advice(graph) or "take another TFLM with --tflm, or convert the model without this operator",
        )
    check_shapes(graph)
    check_empty_tensors(graph)


def _tail_sections(sections: Mapping[str, int]) -> list[Section]:
    return [Section(name, "tail", size_bytes) for name, size_bytes in sections.items()]


def _smallest_multiple_of_16(layout: Layout) -> int:
    """The smallest working size among those that people set; padding can make it more than the minimum rounded up."""
    return size_ending_at(0, replay(layout.trace, 0).minimum_bytes)


def _recorded(generation: Generation, target: Target, layout: Layout, arena_size: int) -> tuple[Section, ...]:
    """What a RecordingMicroInterpreter reports: its own objects are larger, so that padding moves."""
    objects = generation.recording_objects
    trace = (
        event._replace(size_bytes=target.sizes[objects[event.section]])
        if isinstance(event, Allocate) and event.section in objects
        else event
        for event in layout.trace
    )
    sections = replay(trace, arena_size % ALIGNMENT).sections
    return tuple(
        Section(kind, "tail", sum(sections.get(name, 0) for name in names))
        for kind, names in generation.recorded.items()
    )


def _overlap_warnings(layout: Layout) -> list[str]:
    """Only a plan made elsewhere can place two buffers that are in use together over each other."""
    if all(buffer.offset is None for buffer in layout.buffers):
        return []
    return [
        f"the offline memory plan lays {layout.owners[one].label} over {layout.owners[other].label}"
        for one, other in overlaps(layout.buffers, layout.plan)
    ]


def _by_formula(model: ModelFile, graph: Graph, purpose: _Purpose) -> Estimate:
    sections = formula_sections(graph)
    total = sum(section.size_bytes for section in sections)
    return Estimate(
        model=model.name,
        sha256=model.sha256,
        profile=purpose.profile,
        method="formula",
        arena_used_bytes=total,
        head_bytes=None,
        tail_bytes=None,
        min_working_arena_bytes=None,
        recommended_arena_bytes=purpose.with_margin(total),
        sections=sections,
        warnings=(_FORMULA_GUESSES,),
        unknown_parts=(_FORMULA_GUESSES,),
    )
