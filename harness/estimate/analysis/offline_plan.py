"""Writing a memory plan into a model, where TFLM finds it instead of making its own.

The plan is a metadata entry called OfflineMemoryAllocation: 32-bit words that say version, subgraph, number of tensors,
then one offset per tensor of the whole model, -1 where TFLM is to decide. Scratch is always placed by TFLM
(tensorflow/lite/micro/micro_allocation_info.cc).
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, replace
from typing import Final

from harness.domain.estimate import Estimate, Profile
from harness.domain.graph import Graph, Tensor
from harness.errors import ModelError, UsageError
from harness.estimate.layout.generation import Generation, Layout, generation_of
from harness.estimate.one_model import estimate
from harness.estimate.planning import Buffer, Placement
from harness.estimate.planning.search import BestPlan, best_plan
from harness.estimate.reading.metadata import with_metadata
from harness.estimate.reading.model_file import ModelFile
from harness.estimate.reading.parse import OFFLINE_PLAN
from harness.estimate.shapes.open_dimensions import load_graph

_ONLINE: Final = -1
_PLAN_VERSION: Final = 1
_MAIN_SUBGRAPH: Final = 0


@dataclass(frozen=True)
class PlannedModel:
    """A copy of a model with an offline plan.

    Attributes:
        model: the copy.
        before, after: the estimates of both.
    """

    model: ModelFile
    before: Estimate
    after: Estimate

    @property
    def gain_bytes(self) -> int:
        """What the plan saves of the arena; not above 0 where TFLM's own is as good."""
        return self.before.arena_used_bytes - self.after.arena_used_bytes


def plan_offline(model: ModelFile, profile: Profile, *, replace_plan: bool = False) -> PlannedModel:
    """Write the best plan that can be found into a copy of a model.

    Args:
        model: the file.
        profile: TFLM generation, ABI and kernels that the plan is for.
        replace_plan: whether a plan that the model has already may be replaced.

    Raises:
        UsageError: this TFLM ignores such plans, or the model has one already.
        ModelError: the model cannot be used.
    """
    graph = load_graph(model)
    before = estimate(model, profile, graph=graph)
    generation = generation_of(profile)
    _check(graph, generation, replace_plan=replace_plan)
    unplanned = replace(graph, offline_plan=None)
    layout = generation.lay_out(unplanned, generation.target(profile))
    found = best_offline_plan(layout, best_plan(layout.buffers), generation)
    words = (_PLAN_VERSION, _MAIN_SUBGRAPH, graph.tensor_count, *_offsets(graph, layout, found))
    copy = ModelFile.of(model.name, with_metadata(model, OFFLINE_PLAN, struct.pack(f"<{len(words)}i", *words)))
    _verify(graph, load_graph(copy), words)
    after = estimate(copy, profile)
    _check_promise(after, found)
    return PlannedModel(copy, before, after)


def best_offline_plan(layout: Layout, best: BestPlan, generation: Generation) -> Placement:
    """The smallest plan that remains when tensors lie where a candidate puts them, and TFLM places the scratch."""
    plans = [generation.planner(_with_scratch_online(layout, candidate)) for candidate in best.candidates]
    return min(plans, key=lambda plan: plan.arena_bytes)


def _with_scratch_online(layout: Layout, candidate: Placement) -> list[Buffer]:
    return [
        buffer._replace(offset=offset if isinstance(owner.wants, Tensor) else None)
        for owner, buffer, offset in zip(layout.owners, layout.buffers, candidate.offsets, strict=True)
    ]


def _check(graph: Graph, generation: Generation, *, replace_plan: bool) -> None:
    if not generation.reads_offline_plans:
        raise UsageError(f"TFLM {generation.id} ignores offline plans: nothing is written", where=graph.model)
    if graph.offline_plan is not None and not replace_plan:
        raise UsageError(
            "the model has an offline plan already: nothing is written", where=graph.model, hint="--replace-plan"
        )
    for subgraph in graph.subgraphs[1:]:
        if any(tensor.is_variable for tensor in subgraph.tensors):
            # TFLM looks up a variable's offset as if it stood in subgraph 0, and may then give it no memory.
            where = f"{graph.model}, subgraph {subgraph.index}"
            raise UsageError("a called subgraph has variable tensors, for which TFLM misreads plans", where=where)


def _check_promise(after: Estimate, promised: Placement) -> None:
    if after.head_bytes != promised.arena_bytes:
        raise ModelError(
            "the copy's head is not what the plan promised: nothing is written",
            where=after.model,
            measured=f"{after.head_bytes:,} bytes",
            expected=f"{promised.arena_bytes:,}",
        )


def _offsets(graph: Graph, layout: Layout, plan: Placement) -> list[int]:
    """One word per tensor of the whole model."""
    planned = {
        (owner.subgraph.index, owner.wants.index): offset
        for owner, offset in zip(layout.owners, plan.offsets, strict=True)
        if isinstance(owner.wants, Tensor)
    }
    return [planned.get((subgraph.index, tensor.index), _ONLINE) for subgraph, tensor in graph.tensors()]


def _verify(before: Graph, after: Graph, words: tuple[int, ...]) -> None:
    """The copy is the same model but for its plan.

    Raises:
        ModelError: it is not.
    """
    unchanged = replace(after, offline_plan=before.offline_plan, metadata=before.metadata)
    same_data = all(old.data == new.data for (_, old), (_, new) in zip(before.tensors(), after.tensors(), strict=True))
    if unchanged != before or not same_data or after.offline_plan != words:
        raise ModelError("the copy would differ from the model: nothing is written", where=before.model)
