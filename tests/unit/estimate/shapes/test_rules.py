"""Every operator's shape rule, against what files say: the public models', and small ones made here."""

import contextlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.errors import ModelError
from harness.estimate import ModelFile, load_graph, read_model
from harness.estimate.shapes.call import Call
from harness.estimate.shapes.rules import SHAPE_RULES, output_shapes
from tests.support.models import ModelBuilder
from tests.support.places import SHARED_MODELS


@pytest.mark.skipif(not SHARED_MODELS.is_dir(), reason="the public models are not there")
def test_the_rules_give_the_shapes_that_public_models_store():
    wrong = []
    for path in sorted(SHARED_MODELS.glob("*.tflite")):
        graph = load_graph(read_model(path))
        for subgraph, operator in graph.operators():
            stored = tuple(subgraph.tensors[index].shape for index in operator.outputs)
            derived = output_shapes(Call(graph.model, subgraph, operator, subgraph.tensors))
            if derived != stored:
                wrong.append((path.name, operator.name, derived, stored))
    assert not wrong


def derive(name, inputs, outputs=1, options=None):
    """The output shapes of one operator; an input is a shape, or constant whole numbers as `constant` gives them."""
    model = ModelBuilder()
    tensors = []
    for number, operand in enumerate(inputs):
        if operand[:1] == ("constant",):
            data = np.asarray(operand[1], dtype=np.int32)
            tensors.append(model.constant(f"c{number}", data.shape, "int32", data=data.tobytes()))
        else:
            tensors.append(model.input(f"i{number}", list(operand), "float32"))
    targets = [model.tensor(f"o{number}", [1]) for number in range(outputs)]
    model.operator(name, tensors, targets, options=options)
    model.output(*targets)
    graph = load_graph(ModelFile.of("small", model.build()))
    return output_shapes(Call("small", graph.main, graph.main.operators[0], graph.main.tensors))


def constant(*values):
    return ("constant", list(values[0]) if len(values) == 1 and isinstance(values[0], list) else list(values))


CONV = ("Conv2DOptions", {"Padding": 1, "StrideH": 2, "StrideW": 1, "DilationHFactor": 2, "DilationWFactor": 1})
POOL = ("Pool2DOptions", {"Padding": 1, "FilterHeight": 3, "FilterWidth": 9, "StrideH": 3, "StrideW": 1})
SAME_CONV = ("Conv2DOptions", {"Padding": 0, "StrideH": 2, "StrideW": 3})


@pytest.mark.parametrize(
    ("name", "inputs", "options", "expected"),
    [
        ("CONV_2D", [(1, 10, 10, 2), (8, 3, 3, 2)], CONV, (1, 3, 8, 8)),
        ("CONV_2D", [(1, 10, 10, 2), (8, 3, 3, 2)], SAME_CONV, (1, 5, 4, 8)),
        ("ADD", [(2, 1, 3), (4, 1)], None, (2, 4, 3)),
        ("RESHAPE", [(2, 6), constant(3, -1)], None, (3, 4)),
        ("RESHAPE", [(2, 6)], ("ReshapeOptions", {"NewShape": [-1, 2]}), (6, 2)),
        ("SQUEEZE", [(1, 2, 1, 3)], None, (2, 3)),
        ("SQUEEZE", [(1, 2, 1, 3)], ("SqueezeOptions", {"SqueezeDims": [-2]}), (1, 2, 3)),
        ("EXPAND_DIMS", [(2, 3), constant(-1)], None, (2, 3, 1)),
        ("TRANSPOSE", [(1, 2, 3), constant(2, 0, 1)], None, (3, 1, 2)),
        ("CONCATENATION", [(1, 2, 3), (1, 5, 3)], ("ConcatenationOptions", {"Axis": -2}), (1, 7, 3)),
        ("PAD", [(1, 4), constant([[0, 0], [1, 2]])], None, (1, 7)),
        ("MEAN", [(1, 4, 5, 6), constant(1, 2)], ("ReducerOptions", {"KeepDims": True}), (1, 1, 1, 6)),
        ("MEAN", [(1, 4, 5, 6), constant(-1)], None, (1, 4, 5)),
        ("ARG_MAX", [(1, 10), constant(1)], None, (1,)),
        ("SLICE", [(1, 8, 3), constant(0, 2, 0), constant(1, -1, 2)], None, (1, 6, 2)),
        ("STRIDED_SLICE", [(1, 9, 3), constant(0, 1, 0), constant(1, -1, 3), constant(1, 2, 1)], None, (1, 4, 3)),
        (
            "STRIDED_SLICE",
            [(4, 9), constant(0, 0), constant(1, 0), constant(1, 1)],
            ("StridedSliceOptions", {"ShrinkAxisMask": 1, "EndMask": 2}),
            (9,),
        ),
        ("GATHER", [(2, 5, 3), (4, 6)], ("GatherOptions", {"Axis": 1}), (2, 4, 6, 3)),
        ("GATHER_ND", [(2, 5, 3), (7, 2)], None, (7, 3)),
        ("BATCH_MATMUL", [(3, 4, 6), (1, 5, 6)], ("BatchMatMulOptions", {"AdjY": True}), (3, 4, 5)),
        ("RESIZE_BILINEAR", [(2, 4, 4, 3), constant(8, 9)], None, (2, 8, 9, 3)),
        ("DEPTH_TO_SPACE", [(1, 2, 3, 8)], ("DepthToSpaceOptions", {"BlockSize": 2}), (1, 4, 6, 2)),
        ("SPACE_TO_DEPTH", [(1, 4, 6, 2)], ("SpaceToDepthOptions", {"BlockSize": 2}), (1, 2, 3, 8)),
        ("SPACE_TO_BATCH_ND", [(1, 3, 6, 2), constant(2, 3), constant([[0, 1], [0, 0]])], None, (6, 2, 2, 2)),
        ("BATCH_TO_SPACE_ND", [(6, 2, 2, 2), constant(2, 3), constant([[0, 1], [0, 0]])], None, (1, 3, 6, 2)),
        ("FULLY_CONNECTED", [(2, 3, 4), (5, 4)], None, (6, 5)),
        ("FULLY_CONNECTED", [(2, 3, 4), (5, 4)], ("FullyConnectedOptions", {"KeepNumDims": True}), (2, 3, 5)),
        ("SHAPE", [(2, 3, 4)], None, (3,)),
        ("PACK", [(2, 3), (2, 3)], ("PackOptions", {"Axis": 1, "ValuesCount": 2}), (2, 2, 3)),
        ("AVERAGE_POOL_2D", [(1, 9, 9, 4)], POOL, (1, 3, 1, 4)),
    ],
)
def test_one_output(name, inputs, options, expected):
    assert derive(name, inputs, options=options) == (expected,)


def test_several_outputs():
    assert derive("SPLIT", [constant(1), (2, 6)], outputs=3) == ((2, 2),) * 3
    assert derive("SPLIT_V", [(2, 6), constant(1, -1), constant(1)], outputs=2) == ((2, 1), (2, 5))
    assert derive("UNPACK", [(2, 3)], outputs=2, options=("UnpackOptions", {"Num": 2})) == ((3,), (3,))


@pytest.mark.parametrize(
    ("name", "inputs", "why"),
    [
        ("NON_MAX_SUPPRESSION_V4", [(1, 2)], "the shape rule of this operator is not known"),
        ("ADD", [(2, 3), (2, 4)], "do not match"),
        ("RESHAPE", [(2, 6), constant(5, -1)], "12 elements of shape [2, 6] do not fit into [5, -1]"),
        ("PAD", [(1, 4), (2, 2)], "its input 1 is no constant of whole numbers"),
        ("TRANSPOSE", [(1, 2), constant(0, 0)], "does not name each of 2 dimensions once"),
        ("CONV_2D", [(1, 4, 4, 3), (8, 3, 3, 2)], "its filter is for 2 channels, not 3"),
        ("CONV_2D", [(4, 4, 3), (8, 3, 3, 3)], "its input 0 has 3 dimensions, not 4"),
        ("MEAN", [(1, 4), constant(2)], "it works along dimension 2 of 2"),
    ],
)
def test_what_does_not_suit_is_refused_by_name(name, inputs, why):
    with pytest.raises(ModelError) as caught:
        derive(name, inputs)
    assert why in caught.value.what
    assert name in caught.value.where


SHAPES = st.lists(st.integers(-1, 5), max_size=5).map(tuple)
CONSTANTS = st.lists(st.integers(-6, 6), max_size=5).map(lambda numbers: ("constant", numbers))


@settings(max_examples=500)
@given(
    name=st.sampled_from(sorted(SHAPE_RULES)),
    inputs=st.lists(SHAPES | CONSTANTS, max_size=5),
    outputs=st.integers(0, 3),
)
def test_a_rule_gives_shapes_or_refuses_whatever_it_gets(name, inputs, outputs):
    with contextlib.suppress(ModelError):
        shapes = derive(name, inputs, outputs)
        assert len(shapes) == outputs
        assert all(isinstance(size, int) for shape in shapes for size in shape)
