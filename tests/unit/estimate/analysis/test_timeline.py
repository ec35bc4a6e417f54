from __future__ import annotations

import pytest

from harness.domain.estimate import Profile
from harness.estimate.analysis.timeline import Timeline
from harness.estimate.layout.generation import generation_of
from harness.estimate.reading.parse import parse
from tests.support.models import ModelBuilder, chain, skipping


def timeline_of(model: ModelBuilder, tflm: str = "2026-08") -> Timeline:
    profile, graph = Profile(tflm, "arm32"), parse(model.build())
    generation = generation_of(profile)
    return Timeline(graph, generation.lifetimes(graph), generation.lay_out(graph, generation.target(profile)))


@pytest.mark.parametrize("tflm", ["2026-08", "2020-07"])
def test_the_timeline_counts_in_operators(tflm: str) -> None:
    timeline = timeline_of(skipping(), tflm)
    spans = {bar.name: (bar.first_operator, bar.last_operator) for bar in timeline.bars()}
    before_the_first = None if tflm == "2026-08" else 0
    assert spans == {
        "x": (before_the_first, 1),
        "skip": (0, 4),
        "a": (1, 2),
        "b": (2, 3),
        "c": (3, 4),
        "y": (4, 4),
    }


def test_bars_tell_shape_type_and_place() -> None:
    bar = next(bar for bar in timeline_of(skipping()).bars() if bar.name == "skip")
    assert (bar.kind, bar.type, bar.shape, bar.size_bytes) == ("tensor", "float32", (1, 16), 64)
    assert bar.place == "subgraph 0, tensor 1 'skip'"


def test_scratch_has_a_bar_as_long_as_its_operator() -> None:
    model = ModelBuilder()
    x = model.input("x", [1, 8], "int8", scales=1)
    axis = model.constant("axis", [1], "int32", data=b"\1\0\0\0")
    y = model.tensor("y", [1], "int8", scales=1)
    model.operator("MEAN", [x, axis], [y], options=("ReducerOptions", {}))
    model.output(y)
    scratch = [bar for bar in timeline_of(model).bars() if bar.kind == "scratch"]
    assert len(scratch) == 3
    assert {(bar.name, bar.type, bar.shape, bar.first_operator, bar.last_operator) for bar in scratch} == {
        ("MEAN", None, None, 0, 0)
    }


def test_the_peak_names_its_operator_and_what_is_in_use() -> None:
    peak = timeline_of(skipping()).peak()
    assert peak.operator == "subgraph 0, operator 1 TANH"
    assert [bar.name for bar in peak.live] == ["x", "skip", "a"]
    assert (peak.live_bytes, peak.free_bytes, peak.fragmentation_percent) == (3 * 64, 0, 0)


def test_steps_carry_their_live_bytes() -> None:
    steps = timeline_of(skipping()).steps()
    assert [(step.step, step.live_bytes) for step in steps] == [
        (0, 64),
        (1, 128),
        (2, 192),
        (3, 192),
        (4, 192),
        (5, 192),
    ]
    assert [step.operator for step in steps[:2]] == [None, "subgraph 0, operator 0 TANH"]


def test_steps_inside_a_called_subgraph_name_its_operators() -> None:
    model = chain("TANH")
    other = model.subgraph("called")
    inner = other.input("inner", [1, 16])
    result = other.tensor("result", [1, 16])
    other.operator("TANH", [inner], [result])
    other.output(result)
    model.operator("CALL_ONCE", [], [], options=("CallOnceOptions", {"InitSubgraphIndex": 1}))
    timeline = timeline_of(model)
    assert "subgraph 1, operator 0 TANH" in [step.operator for step in timeline.steps()]
    inside = next(bar for bar in timeline.bars() if bar.name == "result")
    assert (inside.first_operator, inside.last_operator) == (1, 1)


def test_only_what_lives_for_more_than_half_of_the_run_is_long_lived() -> None:
    assert [bar.name for bar in timeline_of(skipping()).long_lived()] == ["skip"]
    assert timeline_of(chain("TANH", "TANH")).long_lived() == ()
