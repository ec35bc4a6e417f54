"""Several models in one arena, when they never run at once.

All interpreters get the same MicroAllocator. What persists adds up in the tail, one model behind the other; the head is
as large as the largest of their memory plans, since CommitStaticMemoryPlan keeps the maximum
(tensorflow/lite/micro/micro_allocator.cc). TFLM's documentation calls it multi-tenant.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from typing import Final

from harness.domain.estimate import SHARED_NAME, Estimate, Profile, Section
from harness.errors import UsageError
from harness.estimate.layout.arena import (
    ALIGNMENT,
    Allocate,
    Event,
    Head,
    Trace,
    align_up,
    replay,
    size_ending_at,
    smallest_size,
)
from harness.estimate.layout.generation import generation_of
from harness.estimate.one_model import DEFAULT_ARENA_BYTES, estimate
from harness.estimate.reading.model_file import ModelFile
from harness.estimate.shapes.open_dimensions import load_graph

_SHARED_OBJECTS: Final = frozenset({"allocator", "memory_planner", "micro_allocator"})
"""Sections of what the application creates once for all models."""


def shared_estimate(
    models: Sequence[ModelFile],
    profile: Profile,
    *,
    arena_size_bytes: int | None = None,
    margin_percent: float = 0.0,
    board: str | None = None,
) -> Estimate:
    """Estimate one arena for several models, allocated in the order given.

    Args:
        models: two or more.
        profile: TFLM generation, ABI and kernels.
        arena_size_bytes: the arena that they will share; 112 KB when not given.
        margin_percent: added to the smallest working arena for the recommendation.
        board: the board it is for, if any.

    Raises:
        ModelError: one of them cannot be used.
        UsageError: fewer than two models, or a TFLM whose interpreters cannot share an allocator.
    """
    alone = [estimate(model, profile, board=board) for model in models]
    trace = _shared_trace(models, profile)
    usage = replay(trace, (arena_size_bytes or DEFAULT_ARENA_BYTES) % ALIGNMENT)
    minimum = smallest_size(trace)
    head = max(one.head_bytes or 0 for one in alone)
    separate = sum(one.arena_used_bytes for one in alone)
    used = head + usage.tail_bytes
    wanted = align_up(math.ceil(minimum * (1 + margin_percent / 100)), ALIGNMENT)
    return Estimate(
        model=SHARED_NAME,
        sha256=shared_sha256(models),
        profile=profile,
        method="layout",
        arena_used_bytes=used,
        head_bytes=head,
        tail_bytes=usage.tail_bytes,
        min_working_arena_bytes=minimum,
        recommended_arena_bytes=max(wanted, size_ending_at(0, replay(trace, 0).minimum_bytes)),
        sections=(
            Section("planned_tensors_and_scratch", "head", head),
            *(Section(name, "tail", size) for name, size in usage.sections.items()),
        ),
        refused_by_tflm=tuple(reason for one in alone for reason in one.refused_by_tflm),
        unknown_parts=(unknown := tuple(dict.fromkeys(part for one in alone for part in one.unknown_parts))),
        warnings=(
            *unknown,
            f"{len(models)} models in one arena, which must not run at once: {used:,} bytes against {separate:,} "
            "in arenas of their own",
        ),
        board=board,
    )


def shared_sha256(models: Sequence[ModelFile]) -> str:
    """One hash for models in this order."""
    return hashlib.sha256("".join(model.sha256 for model in models).encode()).hexdigest()


def _shared_trace(models: Sequence[ModelFile], profile: Profile) -> Trace:
    generation = generation_of(profile)
    if len(models) < 2:
        raise UsageError("a shared arena is for two models or more", measured=len(models))
    target = generation.target(profile)
    layouts = [generation.lay_out(load_graph(model), target) for model in models]
    if not all(_sections(layout.trace) >= _SHARED_OBJECTS for layout in layouts):
        raise UsageError(
            f"interpreters of TFLM {profile.tflm} cannot share an allocator",
            hint="give each model an arena of its own, or take another TFLM with --tflm",
        )
    trace: list[Event] = []
    largest_plan = 0
    for number, layout in enumerate(layouts):
        largest_plan = max(largest_plan, layout.plan.arena_bytes)
        trace += _with_head(_without_objects(layout.trace) if number else list(layout.trace), largest_plan)
    return tuple(trace)


def _sections(trace: Trace) -> set[str]:
    return {event.section for event in trace if isinstance(event, Allocate)}


def _without_objects(trace: Trace) -> list[Event]:
    return [event for event in trace if not (isinstance(event, Allocate) and event.section in _SHARED_OBJECTS)]


def _with_head(events: list[Event], top_bytes: int) -> list[Event]:
    """The last head of a model is its memory plan; what stays is the largest plan so far."""
    last = max(place for place, event in enumerate(events) if isinstance(event, Head))
    return [*events[:last], Head(top_bytes), *events[last + 1 :]]
