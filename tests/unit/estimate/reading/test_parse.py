from __future__ import annotations

from typing import Any

import pytest
import tflite

import harness.estimate.reading.parse as parse_module
from harness.domain.graph import CUSTOM, Graph
from harness.errors import ModelError
from harness.estimate.reading.parse import parse
from harness.estimate.reading.schema import ELEMENT_TYPES, OPERATOR_NAMES
from tests.support.models import ModelBuilder, OperatorSpec, chain
from tests.support.places import SHARED_MODELS

MODELS = SHARED_MODELS


def test_a_model_reads_as_it_was_built() -> None:
    model = ModelBuilder()
    x = model.input("x", [1, 8], "int8", scales=1, signature=[-1, 8])
    weights = model.constant("w", [4, 8], "int8", scales=4, data=bytes(range(32)))
    y = model.tensor("y", [1, 4], "int8", scales=1, zero_points=2, quantized_dimension=1)
    state = model.tensor("state", None, variable=True)
    model.operator("FULLY_CONNECTED", [x, weights, -1], [y], ("FullyConnectedOptions", {"KeepNumDims": True}))
    model.output(y)
    main = parse(model.build()).main
    assert (main.inputs, main.outputs) == ((x,), (y,))
    assert main.tensors[x].shape_signature == (-1, 8)
    assert main.tensors[weights].data == bytes(range(32))
    assert (main.tensors[y].scales, main.tensors[y].zero_points, main.tensors[y].quantized_dimension) == (1, 2, 1)
    assert main.tensors[state].is_variable
    assert main.tensors[state].shape == ()
    operator = main.operators[0]
    assert (operator.name, operator.inputs, operator.outputs) == ("FULLY_CONNECTED", (x, weights, -1), (y,))
    assert operator.option("keep_num_dims") == 1


def test_subgraphs_metadata_and_plan() -> None:
    model = chain("RELU")
    model.subgraph("other").tensor("z", [2])
    model.offline_plan(-1, 0, 16)
    graph = parse(model.build())
    assert [subgraph.name for subgraph in graph.subgraphs] == ["main", "other"]
    assert graph.offline_plan == (1, 0, 3, -1, 0, 16)


@pytest.mark.parametrize("field", ["old_codes_only", "new_codes_only"])
def test_either_operator_code_field_will_do(field: str) -> None:
    model = chain("RELU")
    setattr(model, field, True)
    assert parse(model.build()).main.operators[0].name == "RELU"


def test_a_custom_operator_has_its_own_name() -> None:
    operator = parse(chain("Mine").build()).main.operators[0]
    assert (operator.name, operator.is_custom, operator.code) == ("Mine", True, CUSTOM)


def test_absent_operand_lists_are_noticed() -> None:
    model = chain("RELU")
    model.operators[0] = OperatorSpec("RELU", None, [1])
    assert not parse(model.build()).main.operators[0].has_lists


@pytest.mark.parametrize("version", [0, 1, 2, 4])
def test_another_schema_version_is_refused(version: int) -> None:
    model = chain("RELU")
    model.version = version
    with pytest.raises(ModelError, match="schema version") as caught:
        parse(model.build())
    assert caught.value.measured == version


def test_indices_out_of_range_are_refused_with_their_place() -> None:
    model = chain("RELU")
    model.tensors[1].buffer = 9
    with pytest.raises(ModelError, match="buffer number") as caught:
        parse(model.build(), "m.tflite")
    assert caught.value.where == "m.tflite, subgraph 0, tensor 1 't0'"


@pytest.mark.parametrize("index", [-2, 2, 1 << 30])
def test_operand_numbers_out_of_range_are_refused(index: int) -> None:
    model = chain("RELU")
    model.operators[0].inputs = [index]
    with pytest.raises(ModelError, match="tensor number") as caught:
        parse(model.build())
    assert "operator 0 'RELU'" in caught.value.where


@pytest.mark.parametrize("index", [-1, 2])
def test_graph_inputs_out_of_range_are_refused(index: int) -> None:
    model = chain("RELU")
    model.inputs = [index]
    with pytest.raises(ModelError, match="the subgraph's inputs") as caught:
        parse(model.build())
    assert caught.value.measured == index


def parse_error(model: ModelBuilder) -> str:
    with pytest.raises(ModelError) as caught:
        parse(model.build())
    return str(caught.value)


@pytest.mark.parametrize("offsets", [(), (0,), (0, 0, 0)])
def test_an_offline_plan_of_the_wrong_length_is_refused(offsets: tuple[int, ...]) -> None:
    model = chain("RELU")
    model.offline_plan(*offsets)
    assert "offline memory plan has the wrong length" in parse_error(model)


@pytest.mark.parametrize("data", [b"", b"\1\0\0\0\0\0\0\0", b"\1\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0"])
def test_an_offline_plan_that_ends_early_is_refused(data: bytes) -> None:
    model = chain("RELU")
    model.metadata["OfflineMemoryAllocation"] = data
    assert "offline memory plan has the wrong length" in parse_error(model)


def test_an_offline_plan_below_the_arena_is_refused() -> None:
    model = chain("RELU")
    model.offline_plan(0, -16)
    assert "an offset lies before the arena" in parse_error(model)


def test_more_tensors_than_any_device_can_plan_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parse_module, "MAX_TENSORS", 2)
    parse(chain("RELU").build())
    assert "too many tensors" in parse_error(chain("RELU", "ABS"))


def test_a_hostile_name_stays_on_one_line() -> None:
    model = chain("RELU")
    model.tensors[0].name = 'x"\n;é'
    model.tensors[0].buffer = 9
    assert "\n;" not in parse_error(model)


def test_the_schema_tables_are_the_packages() -> None:
    operators = {value: name for name, value in vars(tflite.BuiltinOperator).items() if not name.startswith("_")}
    assert dict(enumerate(OPERATOR_NAMES)) == operators
    types = {value: name.lower() for name, value in vars(tflite.TensorType).items() if not name.startswith("_")}
    assert {number: element.name for number, element in enumerate(ELEMENT_TYPES)} == types


def _numbers(table: Any, field: str) -> tuple[int, ...]:
    return tuple(getattr(table, field)(index) for index in range(getattr(table, f"{field}Length")()))


def _compare(graph: Graph, data: bytes) -> None:
    """Every field that the package's accessors read is what was parsed."""
    theirs = tflite.Model.GetRootAs(data)
    assert len(graph.subgraphs) == theirs.SubgraphsLength()
    for subgraph in graph.subgraphs:
        table = theirs.Subgraphs(subgraph.index)
        assert subgraph.inputs == _numbers(table, "Inputs")
        assert subgraph.outputs == _numbers(table, "Outputs")
        for tensor in subgraph.tensors:
            entry = table.Tensors(tensor.index)
            quantization = entry.Quantization()
            assert tensor.name == (entry.Name() or b"").decode()
            assert tensor.shape == _numbers(entry, "Shape")
            assert tensor.buffer == entry.Buffer()
            assert tensor.is_variable == entry.IsVariable()
            assert tensor.scales == (quantization.ScaleLength() if quantization else 0)
            assert tensor.zero_points == (quantization.ZeroPointLength() if quantization else 0)
            assert len(tensor.data or b"") == theirs.Buffers(tensor.buffer).DataLength()
        for operator in subgraph.operators:
            entry = table.Operators(operator.index)
            code = theirs.OperatorCodes(entry.OpcodeIndex())
            assert operator.inputs == _numbers(entry, "Inputs")
            assert operator.outputs == _numbers(entry, "Outputs")
            assert operator.code == max(code.BuiltinCode(), code.DeprecatedBuiltinCode())


@pytest.mark.skipif(not MODELS.is_dir(), reason="the shared models are not there")
def test_real_models_read_as_the_package_reads_them() -> None:
    for path in sorted(MODELS.glob("*.tflite")):
        data = path.read_bytes()
        _compare(parse(data, path.name), data)


def test_options_read_as_the_package_reads_them() -> None:
    model = chain("RELU")
    x, y = 0, 1
    fields = {"Padding": 1, "StrideW": 2, "StrideH": 3, "DilationWFactor": 4, "DilationHFactor": 5}
    model.operator("CONV_2D", [x, x, -1], [y], ("Conv2DOptions", fields))
    model.operator("VAR_HANDLE", [], [y], ("VarHandleOptions", {"Container": "c", "SharedName": "n"}))
    model.operator("RESHAPE", [x], [y], ("ReshapeOptions", {"NewShape": [1, -1]}))
    model.operator("SOFTMAX", [x], [y], ("SoftmaxOptions", {"Beta": 0.5}))
    model.operator("CONV_2D", [x, x, -1], [y], ("Conv2DOptions", {}))
    _, conv, handle, reshape, softmax, plain = parse(model.build()).main.operators
    assert [conv.option(name) for name in ("padding", "stride_w", "stride_h")] == [1, 2, 3]
    assert [conv.option(f"dilation_{side}_factor") for side in "wh"] == [4, 5]
    assert handle.options == {"container": "c", "shared_name": "n"}
    assert reshape.options == {"new_shape": (1, -1)}
    assert softmax.options == {"beta": 0.5}
    assert plain.option("dilation_w_factor") == 1
