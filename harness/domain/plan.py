"""The memory plan of a model: what lies where in the arena's head, when, and what could be better.

Field names are the keys of the JSON that `harness plan` prints.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

FRAGMENTATION_LIMIT_PERCENT: Final = 15
"""Above this share a plan wastes memory at its peak."""


@dataclass(frozen=True)
class TimelineBar:
    """One buffer of the plan, as a bar from its first to its last operator.

    Attributes:
        name: the tensor's, or the operator's that wants scratch; untrusted text.
        kind: `tensor` or `scratch`.
        place: where in the model it is, for people.
        type, shape: of a tensor; None for scratch.
        first_operator, last_operator: operator numbers in the main subgraph; None before the first one.
        first_step, last_step: the same on the planner's own clock, which also runs through called subgraphs.
        offset_bytes: where it lies in the head.
        size_bytes: its size, rounded up to the planner's alignment.
    """

    name: str
    kind: str
    place: str
    type: str | None
    shape: tuple[int, ...] | None
    first_operator: int | None
    last_operator: int | None
    first_step: int
    last_step: int
    offset_bytes: int
    size_bytes: int


@dataclass(frozen=True)
class PlanStep:
    """One tick of the planner's clock.

    Attributes:
        step: its number.
        operator: what runs then, for people; None before the first operator.
        live_bytes: sum of the buffers in use.
        main_operator: number of the main subgraph's operator that runs or calls then; None before the first one.
    """

    step: int
    operator: str | None
    live_bytes: int
    main_operator: int | None = None


@dataclass(frozen=True)
class PlannerResult:
    """What one planner makes of the buffers.

    Attributes:
        planner: its name.
        arena_bytes: what its plan needs.
        above_bound_percent: how much that is above the lower bound.
    """

    planner: str
    arena_bytes: int
    above_bound_percent: float


@dataclass(frozen=True)
class Comparison:
    """What several planners make of the same buffers.

    Attributes:
        lower_bound_bytes: what no plan can go below: the largest sum of live buffers.
        planners: their results.
    """

    lower_bound_bytes: int
    planners: tuple[PlannerResult, ...]


@dataclass(frozen=True)
class Peak:
    """The step at which most is in use.

    Attributes:
        step, operator, live_bytes: as in PlanStep.
        free_bytes: what lies unused between the live buffers, and below the end of the head.
        fragmentation_percent: the share of the head that this is.
        live: the buffers in use then, largest first.
    """

    step: int
    operator: str | None
    live_bytes: int
    free_bytes: int
    fragmentation_percent: float
    live: tuple[TimelineBar, ...]


@dataclass(frozen=True)
class PersistentCost:
    """What it would cost never to share the memory of some tensors.

    Attributes:
        names: the tensors.
        size_bytes: their sizes.
        head_bytes: the head that TFLM's planner would then need.
        extra_bytes: how much more that is than it needs now.
    """

    names: tuple[str, ...]
    size_bytes: int
    head_bytes: int
    extra_bytes: int


@dataclass(frozen=True)
class BetterPlan:
    """The best placement found for the same buffers.

    Attributes:
        arena_bytes: what it needs.
        saving_bytes: how much less that is than the head now.
        is_optimal: whether no placement can be smaller.
        offline_head_bytes: the head with an offline plan written into the model, TFLM itself placing the scratch; None
            for a TFLM that ignores such plans.
        searched: what was tried, in words.
    """

    arena_bytes: int
    saving_bytes: int
    is_optimal: bool
    offline_head_bytes: int | None
    searched: str


@dataclass(frozen=True)
class BetterOrder:
    """The best order of the main subgraph's operators that was found.

    Attributes:
        operators: their numbers, in that order.
        lower_bound_bytes: the largest sum of live buffers then.
        head_bytes: the head that TFLM's planner would need.
        saving_bytes: how much less that is than the head now.
        is_complete: whether no order has a smaller lower bound.
        searched: what was tried, in words.
    """

    operators: tuple[int, ...]
    lower_bound_bytes: int
    head_bytes: int
    saving_bytes: int
    is_complete: bool
    searched: str


@dataclass(frozen=True)
class MemoryPlan:
    """Everything about the plan of one model under one profile.

    Attributes:
        model, sha256: file name, and hash of the file in hex.
        tflm, abi, kernels, board: what it is for.
        head_bytes: what this TFLM's plan needs; an offline plan in the model is followed where this TFLM does.
        lower_bound_bytes: what no plan can go below: the largest sum of live buffers.
        planners: what different planners make of the same buffers.
        peak: where most is in use.
        long_lived: tensors in use for more than half of the run, the costliest first.
        persistent: costs of the tensors asked for.
        best_plan: the best placement found.
        best_order: the best order of operators found; None when the file's is as good as any that was looked at.
        steps: the clock.
        timeline: all buffers, in planning order.
        warnings: what the user should know.
    """

    model: str
    sha256: str
    tflm: str
    abi: str
    kernels: str
    board: str | None
    head_bytes: int
    lower_bound_bytes: int
    planners: tuple[PlannerResult, ...]
    peak: Peak
    long_lived: tuple[TimelineBar, ...]
    persistent: tuple[PersistentCost, ...]
    best_plan: BetterPlan
    best_order: BetterOrder | None
    steps: tuple[PlanStep, ...]
    timeline: tuple[TimelineBar, ...]
    warnings: tuple[str, ...]
