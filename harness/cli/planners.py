"""Columns for planners' results, in one row per model."""

from __future__ import annotations

from collections.abc import Sequence

from harness.domain.plan import PlannerResult

PLANNERS = ("tflm_greedy", "simple_memory_arena", "arena_planner", "first_fit_decreasing", "offline_plan")


def planner_columns(results: Sequence[PlannerResult]) -> dict[str, object]:
    """A column for each planner that there is; empty for one that a model has no result of."""
    found = {result.planner: result.arena_bytes for result in results}
    return {f"{planner}_bytes": found.get(planner) for planner in PLANNERS}
