"""What there is to say about a model's memory plan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from harness.domain.estimate import Profile
from harness.domain.graph import Graph, Operator, Tensor, quoted
from harness.domain.plan import BetterOrder, BetterPlan, Comparison, MemoryPlan, Peak, PersistentCost, PlannerResult
from harness.errors import UsageError
from harness.estimate.api import estimate, load_graph
from harness.estimate.generation import Generation, Layout, Target, generation_of
from harness.estimate.model_file import ModelFile
from harness.estimate.offline_plan import best_offline_plan
from harness.estimate.planners import Buffer, Placement, lower_bound
from harness.estimate.planners.search import BestPlan, best_plan
from harness.estimate.planners.tflite import arena_planner, first_fit_decreasing, simple_memory_arena
from harness.estimate.reorder import Needs, find_order, reordered
from harness.estimate.timeline import Timeline, percent

FRAGMENTATION_LIMIT_PERCENT: Final = 15
"""Above this a warning says that the plan wastes memory at its peak."""

_NAMES_SHOWN: Final = 5


@dataclass(frozen=True)
class _Case:
    """One model under one profile."""

    graph: Graph
    generation: Generation
    target: Target
    layout: Layout

    @property
    def free(self) -> tuple[Buffer, ...]:
        """The buffers without what an offline plan in the model says of them."""
        return tuple(buffer._replace(offset=None) for buffer in self.layout.buffers)

    @property
    def head_bytes(self) -> int:
        """What TFLM's plan needs."""
        return self.layout.plan.arena_bytes


def analyse(
    model: ModelFile,
    profile: Profile,
    *,
    persistent: Sequence[str] = (),
    board: str | None = None,
) -> MemoryPlan:
    """Analyse the memory plan of a model.

    Args:
        model: the file.
        profile: TFLM generation, ABI and kernels.
        persistent: names of tensors whose memory is never to be shared.
        board: the board it is for, if any.

    Raises:
        ModelError: the model cannot be used, or has operators that this TFLM lacks.
        UsageError: unknown profile, or a name that is no planned tensor of the model.
    """
    graph = load_graph(model)
    checked = estimate(model, profile, graph=graph, board=board)
    generation = generation_of(profile)
    target = generation.target(profile, {})
    case = _Case(graph, generation, target, generation.lay_out(graph, target))
    timeline = Timeline(graph, generation.lifetimes(graph), case.layout)
    peak = timeline.peak()
    compared = _compare(case.layout, generation)
    best = best_plan(case.free)
    return MemoryPlan(
        model=model.name,
        sha256=model.sha256,
        tflm=profile.tflm,
        abi=profile.abi,
        kernels=profile.kernels,
        board=board,
        head_bytes=case.head_bytes,
        lower_bound_bytes=compared.lower_bound_bytes,
        planners=compared.planners,
        peak=peak,
        long_lived=timeline.long_lived(),
        persistent=_persistent_costs(case, persistent),
        best_plan=_better_plan(case, best),
        best_order=_better_order(case),
        steps=timeline.steps(),
        timeline=timeline.bars(),
        warnings=(*checked.warnings, *_fragmentation_warnings(peak)),
    )


def compare(model: ModelFile, profile: Profile) -> Comparison:
    """Compare planners over the buffers of a model.

    Raises:
        ModelError: the model cannot be used.
        UsageError: unknown profile.
    """
    graph = load_graph(model)
    generation = generation_of(profile)
    return _compare(generation.lay_out(graph, generation.target(profile, {})), generation)


def _compare(layout: Layout, generation: Generation) -> Comparison:
    """The model's own offline plan comes last, if it has one."""
    free = [buffer._replace(offset=None) for buffer in layout.buffers]
    plans: dict[str, Placement] = {
        "tflm_greedy": generation.planner(free),
        "simple_memory_arena": simple_memory_arena(free),
        "arena_planner": arena_planner(free),
        "first_fit_decreasing": first_fit_decreasing(free),
    }
    if any(buffer.offset is not None for buffer in layout.buffers):
        plans["offline_plan"] = layout.plan
    bound = lower_bound(free)
    results = [
        PlannerResult(name, plan.arena_bytes, percent(plan.arena_bytes - bound, bound)) for name, plan in plans.items()
    ]
    return Comparison(bound, tuple(results))


def _persistent_costs(case: _Case, names: Sequence[str]) -> tuple[PersistentCost, ...]:
    """Of each tensor, and of all together when there are several."""
    found = [_numbers(case, name) for name in names]
    costs = [_persistent_cost(case, [name], numbers) for name, numbers in zip(names, found, strict=True)]
    if len(names) > 1:
        costs.append(_persistent_cost(case, names, sorted({number for numbers in found for number in numbers})))
    return tuple(costs)


def _persistent_cost(case: _Case, names: Sequence[str], numbers: Sequence[int]) -> PersistentCost:
    buffers = list(case.free)
    first, last = min(b.first for b in buffers), max(b.last for b in buffers)
    for number in numbers:
        buffers[number] = buffers[number]._replace(first=first, last=last)
    now = case.generation.planner(case.free).arena_bytes
    head = case.generation.planner(buffers).arena_bytes
    return PersistentCost(tuple(names), sum(buffers[number].size_bytes for number in numbers), head, head - now)


def _numbers(case: _Case, name: str) -> list[int]:
    """The buffers of the tensors with a name."""
    tensors = [(n, owner.wants) for n, owner in enumerate(case.layout.owners) if isinstance(owner.wants, Tensor)]
    numbers = [number for number, tensor in tensors if tensor.name == name]
    if not numbers:
        known = [quoted(tensor.name) for _, tensor in sorted(tensors, key=lambda entry: -entry[1].size_bytes)]
        more = ", …" if len(known) > _NAMES_SHOWN else ""
        raise UsageError(
            f"no planned tensor is called {quoted(name)}",
            where=f"{case.graph.model}, --persistent",
            expected=f"a tensor that is neither constant nor variable: {', '.join(known[:_NAMES_SHOWN])}{more}",
        )
    return numbers


def _better_plan(case: _Case, best: BestPlan) -> BetterPlan:
    offline = best_offline_plan(case.layout, best) if case.generation.reads_offline_plans else None
    tried = f"{len(best.candidates)} plans by simple orders"
    if best.partial_plans:
        tried += f", then {best.partial_plans} partial plans by branch and bound"
    return BetterPlan(
        arena_bytes=best.plan.arena_bytes,
        saving_bytes=case.head_bytes - best.plan.arena_bytes,
        is_optimal=best.is_optimal,
        offline_head_bytes=None if offline is None else offline.arena_bytes,
        searched=tried,
    )


def _better_order(case: _Case) -> BetterOrder | None:
    found = find_order(case.graph, _needs(case.layout))
    graph = reordered(case.graph, found.order)
    layout = case.generation.lay_out(graph, case.target)
    if layout.plan.arena_bytes >= case.head_bytes:
        return None
    return BetterOrder(
        operators=found.order,
        lower_bound_bytes=lower_bound(layout.buffers),
        head_bytes=layout.plan.arena_bytes,
        saving_bytes=case.head_bytes - layout.plan.arena_bytes,
        is_complete=found.is_complete,
        searched=f"{found.states} sets of operators" + ("" if found.is_complete else ", then given up"),
    )


def _needs(layout: Layout) -> Needs:
    tensors: dict[int, int] = {}
    scratch: dict[int, int] = {}
    for owner, buffer in zip(layout.owners, layout.buffers, strict=True):
        if owner.subgraph.index == 0:
            sizes = scratch if isinstance(owner.wants, Operator) else tensors
            sizes[owner.wants.index] = sizes.get(owner.wants.index, 0) + buffer.size_bytes
    return Needs(tensors, scratch)


def _fragmentation_warnings(peak: Peak) -> list[str]:
    if peak.fragmentation_percent <= FRAGMENTATION_LIMIT_PERCENT:
        return []
    return [f"{peak.fragmentation_percent} % of the head lies free at its peak ({peak.free_bytes} bytes)"]
