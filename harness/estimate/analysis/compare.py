"""What there is to say about a model's memory plan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from harness.domain.estimate import Profile
from harness.domain.graph import Graph, Operator, Tensor, quoted
from harness.domain.plan import (
    FRAGMENTATION_LIMIT_PERCENT,
    BetterOrder,
    BetterPlan,
    Comparison,
    MemoryPlan,
    Peak,
    PersistentCost,
    PlannerResult,
)
from harness.errors import UsageError
from harness.estimate.analysis.offline_plan import best_offline_plan
from harness.estimate.analysis.reorder import Needs, find_order, reordered
from harness.estimate.analysis.timeline import Timeline, percent
from harness.estimate.layout.generation import Generation, Layout, Target, generation_of
from harness.estimate.one_model import estimate
from harness.estimate.planning import Placement, lower_bound
from harness.estimate.planning.search import best_plan
from harness.estimate.planning.tflite import arena_planner, first_fit_decreasing, simple_memory_arena
from harness.estimate.reading.model_file import ModelFile
from harness.estimate.shapes.open_dimensions import load_graph

_NAMES_SHOWN: Final = 5


@dataclass(frozen=True)
class _Case:
    """One model under one profile.

    Attributes:
        graph: without what an offline plan in the model says.
        generation, target: the profile's.
        now: what this TFLM does, following that plan if it reads such plans.
        unplanned: what it would do without it.
    """

    graph: Graph
    generation: Generation
    target: Target
    now: Layout
    unplanned: Layout

    @property
    def head_bytes(self) -> int:
        """What TFLM's plan needs now."""
        return self.now.plan.arena_bytes


def _case(graph: Graph, profile: Profile) -> _Case:
    generation = generation_of(profile)
    target = generation.target(profile)
    unplanned = replace(graph, offline_plan=None)
    return _Case(
        graph=unplanned,
        generation=generation,
        target=target,
        now=generation.lay_out(graph, target),
        unplanned=generation.lay_out(unplanned, target),
    )


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
    case = _case(graph, profile)
    timeline = Timeline(graph, case.generation.lifetimes(graph), case.now)
    peak = timeline.peak()
    compared = _compare(case)
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
        best_plan=_better_plan(case),
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
    return _compare(_case(load_graph(model), profile))


def _compare(case: _Case) -> Comparison:
    """The model's own offline plan comes last, if it has one."""
    buffers = case.unplanned.buffers
    plans: dict[str, Placement] = {
        "tflm_greedy": case.unplanned.plan,
        "simple_memory_arena": simple_memory_arena(buffers),
        "arena_planner": arena_planner(buffers),
        "first_fit_decreasing": first_fit_decreasing(buffers),
    }
    if any(buffer.offset is not None for buffer in case.now.buffers):
        plans["offline_plan"] = case.now.plan
    bound = lower_bound(buffers)
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
    buffers = list(case.unplanned.buffers)
    first, last = min(b.first for b in buffers), max(b.last for b in buffers)
    for number in numbers:
        buffers[number] = buffers[number]._replace(first=first, last=last)
    head = case.generation.planner(buffers).arena_bytes
    size = sum(buffers[number].size_bytes for number in numbers)
    return PersistentCost(tuple(names), size, head, head - case.unplanned.plan.arena_bytes)


def _numbers(case: _Case, name: str) -> list[int]:
    """The buffers of the tensors with a name."""
    tensors = [(n, owner.wants) for n, owner in enumerate(case.unplanned.owners) if isinstance(owner.wants, Tensor)]
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


def _better_plan(case: _Case) -> BetterPlan:
    best = best_plan(case.unplanned.buffers)
    reads_plans = case.generation.reads_offline_plans
    offline = best_offline_plan(case.unplanned, best, case.generation) if reads_plans else None
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
    found = find_order(case.graph, _needs(case.unplanned))
    layout = case.generation.lay_out(reordered(case.graph, found.order), case.target)
    if layout.plan.arena_bytes >= case.unplanned.plan.arena_bytes:
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
    return [f"{peak.fragmentation_percent} % of the head lies free at its peak ({peak.free_bytes:,} bytes)"]
