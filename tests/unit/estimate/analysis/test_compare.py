from __future__ import annotations

import pytest

from harness.domain.estimate import Profile
from harness.domain.plan import MemoryPlan
from harness.errors import UsageError
from harness.estimate import ModelFile, estimate
from harness.estimate.analysis.compare import analyse, compare
from tests.support.models import ModelBuilder, chain, skipping

PROFILE = Profile("2026-08", "arm32")


def plan_of(model: ModelBuilder, *persistent: str, profile: Profile = PROFILE) -> MemoryPlan:
    return analyse(ModelFile.of("m.tflite", model.build()), profile, persistent=persistent)


def test_the_head_is_the_estimate_s() -> None:
    model = ModelFile.of("m.tflite", skipping().build())
    assert analyse(model, PROFILE).head_bytes == estimate(model, PROFILE).head_bytes


def test_every_planner_is_compared_with_the_bound() -> None:
    plan = plan_of(skipping())
    names = ["tflm_greedy", "simple_memory_arena", "arena_planner", "first_fit_decreasing"]
    assert [result.planner for result in plan.planners] == names
    for result in plan.planners:
        above = 100 * (result.arena_bytes / plan.lower_bound_bytes - 1)
        assert result.above_bound_percent == pytest.approx(above, abs=0.01)


def test_the_model_s_own_plan_is_compared_too() -> None:
    model = chain("TANH", "TANH")
    model.offline_plan(0, 4096, 8192)
    plan = plan_of(model)
    assert plan.planners[-1].planner == "offline_plan"
    assert plan.head_bytes == plan.planners[-1].arena_bytes == 8192 + 64
    assert plan.planners[0].arena_bytes == 128
    assert plan.best_plan.saving_bytes == 8192 + 64 - 128


def test_a_tflm_that_ignores_plans_shows_none() -> None:
    model = chain("TANH", "TANH")
    model.offline_plan(0, 4096, 8192)
    plan = plan_of(model, profile=Profile("2020-07", "arm32"))
    assert plan.head_bytes == 128
    assert plan.planners[-1].planner == "first_fit_decreasing"
    assert plan.best_plan.offline_head_bytes is None


def test_a_persistent_tensor_costs_its_place_for_the_whole_run() -> None:
    plan = plan_of(skipping(), "b")
    assert [(cost.names, cost.size_bytes, cost.extra_bytes) for cost in plan.persistent] == [(("b",), 64, 64)]
    assert plan.persistent[0].head_bytes == plan.head_bytes + 64


def test_several_persistent_tensors_are_counted_one_by_one_and_together() -> None:
    costs = plan_of(skipping(), "a", "b", "c").persistent
    assert [cost.names for cost in costs] == [("a",), ("b",), ("c",), ("a", "b", "c")]
    assert costs[-1].extra_bytes > max(cost.extra_bytes for cost in costs[:-1])


def test_an_unknown_name_lists_those_that_there_are() -> None:
    with pytest.raises(UsageError, match="no planned tensor is called 'nope'") as caught:
        plan_of(skipping(), "nope")
    assert "'skip'" in str(caught.value.expected)


def test_a_fragmented_plan_is_warned_about() -> None:
    model = chain("TANH", "TANH")
    assert not plan_of(model).warnings
    model.offline_plan(0, 4096, 8192)
    plan = plan_of(model)
    assert plan.peak.fragmentation_percent == round(100 * (8256 - 128) / 8256, 2)
    assert any("98.45 % of the head lies free at its peak" in warning for warning in plan.warnings)


def test_a_better_order_is_found_and_planned_anew() -> None:
    model = ModelBuilder()
    x = model.input("x", [1, 4])
    wide = [model.tensor(f"wide{branch}", [1, 100]) for branch in "ab"]
    narrow = [model.tensor(f"narrow{branch}", [1, 4]) for branch in "ab"]
    total = model.tensor("total", [1, 4])
    for tensor in wide:
        model.operator("TANH", [x], [tensor])
    for before, after in zip(wide, narrow, strict=True):
        model.operator("TANH", [before], [after])
    model.operator("ADD", narrow, [total])
    model.output(total)
    order = plan_of(model).best_order
    assert order is not None
    assert order.operators == (0, 2, 1, 3, 4)
    assert (order.lower_bound_bytes, order.head_bytes) == (16 + 400 + 16, 16 + 400 + 16)
    assert order.saving_bytes == plan_of(model).head_bytes - order.head_bytes > 0


def test_a_model_in_the_best_order_has_no_better_one() -> None:
    assert plan_of(skipping()).best_order is None


def test_comparing_alone_gives_the_same_as_the_analysis() -> None:
    model = ModelFile.of("m.tflite", skipping().build())
    alone, whole = compare(model, PROFILE), analyse(model, PROFILE)
    assert (alone.lower_bound_bytes, alone.planners) == (whole.lower_bound_bytes, whole.planners)


def test_a_model_without_operators_has_a_plan() -> None:
    assert plan_of(ModelBuilder()).head_bytes == 0
