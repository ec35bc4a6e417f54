from __future__ import annotations

from dataclasses import replace

import pytest
import tflite

from harness.domain.estimate import Profile
from harness.errors import UsageError
from harness.estimate import ModelFile, load_graph, read_model
from harness.estimate.analysis.offline_plan import plan_offline
from harness.estimate.layout.generation import generation_of
from harness.estimate.planning import overlaps
from harness.estimate.reading.parse import OFFLINE_PLAN
from tests.support.models import ModelBuilder, chain, layers
from tests.support.places import SHARED_MODELS

PROFILE = Profile("2026-08", "arm32")


def model_file(model: ModelBuilder) -> ModelFile:
    return ModelFile.of("layers.tflite", model.build())


def test_the_copy_needs_what_was_promised() -> None:
    planned = plan_offline(model_file(layers()), PROFILE)
    assert (planned.before.head_bytes, planned.after.head_bytes) == (704, 480)
    assert planned.after.tail_bytes == planned.before.tail_bytes
    assert planned.after.sha256 == planned.model.sha256 != planned.before.sha256


def test_no_two_tensors_in_use_together_lie_over_each_other() -> None:
    graph = load_graph(plan_offline(model_file(layers()), PROFILE).model)
    generation = generation_of(PROFILE)
    layout = generation.lay_out(graph, generation.target(PROFILE))
    assert all(buffer.offset is not None for buffer in layout.buffers)
    assert not overlaps(layout.buffers, layout.plan)


def test_constants_are_not_planned() -> None:
    graph = load_graph(plan_offline(model_file(layers()), PROFILE).model)
    assert graph.offline_plan is not None
    for tensor, offset in zip(graph.main.tensors, graph.offline_plan[3:], strict=True):
        assert (offset == -1) == tensor.is_constant


def test_another_reader_finds_the_plan_and_the_same_model() -> None:
    before = model_file(layers())
    after = tflite.Model.GetRootAs(plan_offline(before, PROFILE).model.data, 0)
    assert tflite.Model.ModelBufferHasIdentifier(plan_offline(before, PROFILE).model.data, 0)
    assert after.Metadata(0).Name() == OFFLINE_PLAN.encode()
    words = after.Buffers(after.Metadata(0).Buffer()).DataAsNumpy().view("int32")
    assert list(words[:3]) == [1, 0, len(load_graph(before).main.tensors)]
    old = tflite.Model.GetRootAs(before.data, 0)
    for index in range(old.BuffersLength()):
        assert old.Buffers(index).DataLength() == after.Buffers(index).DataLength()


def test_scratch_is_left_to_tflm_and_counted() -> None:
    model = layers()
    data = model.input("data", [1, 6, 6, 2], "int8", scales=1)
    filters = model.constant("filters", [3, 3, 3, 2], "int8", scales=3)
    bias = model.constant("bias", [3], "int32", scales=3)
    result = model.tensor("result", [1, 6, 6, 3], "int8", scales=1)
    options = ("Conv2DOptions", {"StrideW": 1, "StrideH": 1})
    model.operator("CONV_2D", [data, filters, bias], [result], options=options)
    model.output(result)
    profile = replace(PROFILE, kernels="cmsis-nn")
    planned = plan_offline(model_file(model), profile)
    generation = generation_of(profile)
    layout = generation.lay_out(load_graph(planned.model), generation.target(profile))
    assert [buffer.offset for buffer in layout.buffers].count(None) == 1
    assert not overlaps(layout.buffers, layout.plan)
    assert planned.after.head_bytes == layout.plan.arena_bytes < (planned.before.head_bytes or 0)


def test_where_tflms_own_plan_is_as_good_nothing_is_gained() -> None:
    assert plan_offline(model_file(chain("TANH", "TANH")), PROFILE).gain_bytes <= 0
    assert plan_offline(model_file(layers()), PROFILE).gain_bytes > 0


def test_a_tflm_that_ignores_plans_gets_none() -> None:
    with pytest.raises(UsageError, match="TFLM 2020-07 ignores offline plans"):
        plan_offline(model_file(layers()), Profile("2020-07", "arm32"))


def test_a_plan_that_is_there_is_kept_unless_it_may_be_replaced() -> None:
    model = layers()
    model.offline_plan(*(4096 * number for number in range(len(model.tensors))))
    with pytest.raises(UsageError, match="has an offline plan already") as caught:
        plan_offline(model_file(model), PROFILE)
    assert "--replace-plan" in caught.value.hint
    planned = plan_offline(model_file(model), PROFILE, replace_plan=True)
    assert planned.after.head_bytes == 480
    assert load_graph(planned.model).metadata == (OFFLINE_PLAN,)


def test_a_variable_that_an_old_plan_had_in_the_head_goes_back_to_the_tail() -> None:
    # Sharing its memory would destroy what it keeps from run to run.
    model = layers()
    model.tensor("state", [1, 4], variable=True)
    model.operator("TANH", [len(model.tensors) - 1], [model.tensor("z", [1, 4])])
    model.offline_plan(*(4096 * number for number in range(len(model.tensors))))
    planned = plan_offline(model_file(model), PROFILE, replace_plan=True)
    words = load_graph(planned.model).offline_plan
    assert words is not None
    assert words[3 + [tensor.name for tensor in model.tensors].index("state")] == -1


def test_other_metadata_stays() -> None:
    model = layers()
    model.metadata["min_runtime_version"] = b"1.5.0"
    planned = plan_offline(model_file(model), PROFILE)
    assert load_graph(planned.model).metadata == ("min_runtime_version", OFFLINE_PLAN)


def test_variables_in_called_subgraphs_are_refused() -> None:
    model = layers()
    other = model.subgraph("called")
    state = other.tensor("state", [1, 4], variable=True)
    model.operator("CALL_ONCE", [], [], options=("CallOnceOptions", {"InitSubgraphIndex": 1}))
    y = other.tensor("y", [1, 4])
    other.operator("TANH", [state], [y])
    with pytest.raises(UsageError, match="a called subgraph has variable tensors"):
        plan_offline(model_file(model), PROFILE)


def test_a_real_model_gains() -> None:
    path = SHARED_MODELS / "okay_nabu_streaming_int8.tflite"
    if not path.exists():
        pytest.skip("no ../shared/models beside the checkout")
    planned = plan_offline(read_model(path), PROFILE)
    assert (planned.before.head_bytes, planned.after.head_bytes) == (4096, 4032)
