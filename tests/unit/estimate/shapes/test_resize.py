"""Other input shapes: option texts, propagation, and the rewritten file."""

import pytest

from harness.domain.estimate import Profile
from harness.errors import ModelError, UsageError
from harness.estimate import ModelFile, estimate, load_graph, read_model
from harness.estimate.shapes.resize import parse_input_shape, resize
from harness.estimate.shapes.rewrite import resize_model
from tests.support.models import ModelBuilder, chain
from tests.support.places import SHARED_CASES

PROFILE = Profile("2026-08", "arm32")


def model_file(builder):
    return ModelFile.of("small", builder.build())


def shapes(model):
    return [tensor.shape for tensor in load_graph(model).main.tensors]


@pytest.mark.parametrize("text", ["", "x", "=1,2", "x=", "x=1,", "x=1,-1", "x=0", "x=1,a", "x=1;2", "x=²"])
def test_what_is_no_input_shape(text):
    with pytest.raises(UsageError):
        parse_input_shape(text)


def test_the_last_equals_sign_ends_the_name():
    assert parse_input_shape("a=b:0=1, 96,96,1") == ("a=b:0", (1, 96, 96, 1))


def test_the_file_is_rewritten_as_the_graph_is_resized():
    model = model_file(chain("RELU", "TANH", "LOGISTIC"))
    resized = resize_model(model, {"x": (4, 8)})
    assert shapes(resized) == [(4, 8)] * 4
    assert load_graph(resized) == resize(load_graph(model), {"0": (4, 8)})
    assert estimate(resized, PROFILE).head_bytes == 2 * 4 * 8 * 4


def test_a_rewritten_file_is_the_one_that_would_have_been_converted():
    resized = resize_model(model_file(chain("RELU", "TANH", size=16)), {"x": (1, 64)})
    assert load_graph(resized) == load_graph(model_file(chain("RELU", "TANH", size=64)))


def test_an_open_dimension_is_given():
    builder = ModelBuilder()
    x = builder.input("x", [-1, 4])
    y = builder.tensor("y", [-1, 2])
    builder.operator("FULLY_CONNECTED", [x, builder.constant("w", [2, 4]), -1], [y])
    builder.output(y)
    model = model_file(builder)
    with pytest.raises(ModelError, match="open"):
        estimate(model, PROFILE)
    assert shapes(resize_model(model, {"x": (3, 4)}))[:2] == [(3, 4), (3, 2)]


def test_called_subgraphs_follow():
    builder = ModelBuilder()
    x, condition = builder.input("x", [1, 4]), builder.input("c", [1], "bool")
    y = builder.tensor("y", [1, 4])
    builder.operator("IF", [condition, x], [y], options=("IfOptions", {"ThenSubgraphIndex": 1, "ElseSubgraphIndex": 2}))
    builder.output(y)
    for name in ("TANH", "RELU"):
        branch = builder.subgraph(name)
        source, target = branch.input("s", [1, 4]), branch.tensor("t", [1, 4])
        branch.operator(name, [source], [target])
        branch.output(target)
    resized = load_graph(resize_model(model_file(builder), {"x": (2, 9)}))
    assert [tensor.shape for _, tensor in resized.tensors()] == [(2, 9), (1,), (2, 9)] + [(2, 9)] * 4


def test_subgraphs_that_call_each_other_in_a_circle_end():
    builder = ModelBuilder()
    builder.new_codes_only = True
    x, condition = builder.input("x", [1, 4]), builder.input("c", [1], "bool")
    y = builder.tensor("y", [1, 4])
    both = ("IfOptions", {"ThenSubgraphIndex": 1, "ElseSubgraphIndex": 1})
    builder.operator("IF", [condition, x], [y], options=both)
    builder.output(y)
    branch = builder.subgraph("branch")
    source, inner, target = branch.input("s", [1, 4]), branch.tensor("c", [1], "bool"), branch.tensor("t", [1, 4])
    branch.operator("IF", [inner, source], [target], options=both)
    branch.output(target)
    with pytest.raises(ModelError, match="call each other more than"):
        resize_model(model_file(builder), {"x": (2, 9)})


def test_a_call_with_too_few_arguments():
    builder = ModelBuilder()
    x = builder.input("x", [1, 4])
    y = builder.tensor("y", [1, 4])
    builder.operator("IF", [x], [y], options=("IfOptions", {"ThenSubgraphIndex": 1, "ElseSubgraphIndex": 7}))
    builder.output(y)
    branch = builder.subgraph("branch")
    branch.output(branch.input("s", [1, 4]))
    with pytest.raises(ModelError, match="1 tensors get 0 shapes"):
        resize_model(model_file(builder), {"x": (2, 9)})


def test_operators_in_front_of_the_change_are_left_alone():
    builder = ModelBuilder()
    x, y = builder.input("x", [1, 4]), builder.input("y", [1, 4])
    z, out = builder.tensor("z", [1, 4]), builder.tensor("out", [1, 4])
    builder.operator("MY_CUSTOM", [x], [z])
    builder.operator("TANH", [y], [out])
    builder.output(z, out)
    model = model_file(builder)
    assert shapes(resize_model(model, {"y": (1, 5)})) == [(1, 4), (1, 5), (1, 4), (1, 5)]
    with pytest.raises(ModelError, match="shape rule of this operator is not known") as caught:
        resize_model(model, {"x": (1, 5)})
    assert "MY_CUSTOM" in caught.value.where


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"z": (1, 4)}, "no input called 'z'"),
        ({"1": (1, 4)}, "no input called '1'"),
        ({"x": (4,)}, "another number of dimensions"),
    ],
)
def test_what_is_not_there_is_refused(given, why):
    with pytest.raises(ModelError, match=why):
        resize_model(model_file(chain("RELU", size=4)), given)


def test_the_inputs_that_there_are_are_told():
    with pytest.raises(ModelError) as caught:
        resize_model(model_file(chain("RELU", size=4)), {"input": (1, 4)})
    assert caught.value.expected == "the number, or the name, of one of its inputs: 0 ('x')"


def test_an_offline_plan_holds_for_its_own_shape_only():
    builder = chain("RELU", size=4)
    builder.offline_plan(0, 64)
    with pytest.raises(ModelError, match="offline memory plan"):
        resize_model(model_file(builder), {"x": (1, 8)})


def test_without_a_shape_the_model_is_the_same():
    model = model_file(chain("RELU"))
    assert resize_model(model, {}) is model


@pytest.mark.skipif(not SHARED_CASES.is_dir(), reason="the unusual models are not there")
def test_the_model_whose_batch_size_is_open():
    resized = resize_model(read_model(SHARED_CASES / "dyn_shape_minus1.tflite"), {"0": (1, 1)})
    assert estimate(resized, PROFILE).arena_used_bytes == 776
