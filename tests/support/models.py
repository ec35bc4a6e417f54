"""Tiny models, built for one question each.

    model = ModelBuilder()
    x = model.input("x", [1, 8], "int8", scales=1)
    w = model.constant("w", [4, 8], "int8", scales=1)
    y = model.tensor("y", [1, 4], "int8", scales=1)
    model.operator("FULLY_CONNECTED", [x, w, -1], [y], options=("FullyConnectedOptions", {"KeepNumDims": True}))
    model.output(y)
    data = model.build()

Further subgraphs come from `model.subgraph()` and have the same methods. The file is written by the `tflite` package.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import prod
from typing import Any

import flatbuffers
import tflite

ELEMENT_BYTES = {"float32": 4, "int32": 4, "int64": 8, "int16": 2, "int8": 1, "uint8": 1, "bool": 1, "resource": 4}

Options = tuple[str, Mapping[str, Any]]


@dataclass
class TensorSpec:
    """A tensor to be written; `data` becomes a buffer of its own."""

    name: str
    shape: Sequence[int] | None
    type: str
    scales: int = 0
    scale: float = 0.5
    zero_point: int = 0
    zero_points: int | None = None
    quantized_dimension: int = 0
    variable: bool = False
    signature: Sequence[int] | None = None
    data: bytes | None = None
    buffer: int | None = None


@dataclass
class OperatorSpec:
    """An operator to be written."""

    name: str
    inputs: Sequence[int] | None
    outputs: Sequence[int] | None
    options: Options | None = None
    custom_options: bytes | None = None


@dataclass
class SubgraphBuilder:
    """Collects one subgraph. Methods that add a tensor return its number."""

    name: str = "main"
    tensors: list[TensorSpec] = field(default_factory=list)
    operators: list[OperatorSpec] = field(default_factory=list)
    inputs: list[int] = field(default_factory=list)
    outputs: list[int] = field(default_factory=list)

    def tensor(self, name: str, shape: Sequence[int] | None, type: str = "float32", **more: Any) -> int:  # noqa: A002 - the schema's word
        self.tensors.append(TensorSpec(name, shape, type, **more))
        return len(self.tensors) - 1

    def input(self, name: str, shape: Sequence[int] | None, type: str = "float32", **more: Any) -> int:  # noqa: A002 - as above
        self.inputs.append(self.tensor(name, shape, type, **more))
        return self.inputs[-1]

    def constant(self, name: str, shape: Sequence[int], type: str = "float32", **more: Any) -> int:  # noqa: A002 - as above
        if "data" not in more:
            size = (prod(shape) + 1) // 2 if type == "int4" else prod(shape) * ELEMENT_BYTES[type]
            more["data"] = bytes(size)
        return self.tensor(name, shape, type, **more)

    def operator(
        self, name: str, inputs: Sequence[int] | None, outputs: Sequence[int] | None, options: Options | None = None
    ) -> None:
        self.operators.append(OperatorSpec(name, inputs, outputs, options))

    def output(self, *tensors: int) -> None:
        self.outputs.extend(tensors)


@dataclass
class ModelBuilder(SubgraphBuilder):
    """Collects a model; it is itself the subgraph that runs."""

    version: int = 3
    old_codes_only: bool = False
    new_codes_only: bool = False
    others: list[SubgraphBuilder] = field(default_factory=list)
    metadata: dict[str, bytes] = field(default_factory=dict)

    def subgraph(self, name: str) -> SubgraphBuilder:
        self.others.append(SubgraphBuilder(name))
        return self.others[-1]

    def offline_plan(self, *offsets: int) -> None:
        """An OfflineMemoryAllocation plan with one offset per tensor of the whole model."""
        words = (1, 0, len(offsets), *offsets)
        self.metadata["OfflineMemoryAllocation"] = b"".join(word.to_bytes(4, "little", signed=True) for word in words)

    def build(self) -> bytes:
        return _Writer(self).write()


def chain(*operators: str, size: int = 16, type: str = "float32") -> ModelBuilder:  # noqa: A002 - the schema's word
    """A model of one-input operators in a row, each from one tensor of `size` elements to the next."""
    model = ModelBuilder()
    last = model.input("x", [1, size], type, scales=1)
    for number, name in enumerate(operators):
        target = model.tensor(f"t{number}", [1, size], type, scales=1)
        model.operator(name, [last], [target])
        last = target
    model.output(last)
    return model


def delay_line(size: int = 16) -> ModelBuilder:
    """What comes out is what went in the time before, kept in a resource variable; another output is its negative."""
    model = ModelBuilder()
    x = model.input("x", [1, size], "int8", scales=1)
    handle = model.tensor("handle", [], "resource")
    before, negative = (model.tensor(name, [1, size], "int8", scales=1) for name in ("before", "negative"))
    model.operator("VAR_HANDLE", [], [handle], options=("VarHandleOptions", {"SharedName": "state"}))
    model.operator("READ_VARIABLE", [handle], [before])
    model.operator("ASSIGN_VARIABLE", [handle, x], [])
    model.operator("NEG", [x], [negative])
    model.output(before)
    model.output(negative)
    return model


# Widths of fully connected layers in a row for which TFLM's greedy planner needs 704 bytes, although 480 are enough.
GREEDY_LOSES = (28, 56, 44, 12, 64, 56, 60, 60)


def layers(widths: Sequence[int] = GREEDY_LOSES) -> ModelBuilder:
    """Fully connected layers in a row, with weights that keep every value alive."""
    model, numbers = ModelBuilder(), random.Random(5)  # noqa: S311 - weights are no secret
    last = model.input("x", [1, widths[0]])
    for layer, (wide, narrow) in enumerate(pairwise(widths)):
        weights = struct.pack(f"<{wide * narrow}f", *(numbers.uniform(-0.3, 0.3) for _ in range(wide * narrow)))
        kernel = model.constant(f"weights{layer}", [narrow, wide], data=weights)
        target = model.tensor(f"y{layer}", [1, narrow])
        model.operator("FULLY_CONNECTED", [last, kernel, -1], [target], options=("FullyConnectedOptions", {}))
        last = target
    model.output(last)
    return model


def skipping() -> ModelBuilder:
    """Five operators; the tensor `skip`, which the first one writes, is read by the last one only."""
    model = ModelBuilder()
    x = model.input("x", [1, 16])
    skip, a, b, c = (model.tensor(name, [1, 16]) for name in ("skip", "a", "b", "c"))
    y = model.tensor("y", [1, 16])
    model.operator("TANH", [x], [skip])
    model.operator("TANH", [x], [a])
    model.operator("TANH", [a], [b])
    model.operator("TANH", [b], [c])
    model.operator("ADD", [skip, c], [y])
    model.output(y)
    return model


class _Writer:
    def __init__(self, model: ModelBuilder) -> None:
        self._model = model
        self._out = flatbuffers.Builder(1024)
        self._buffers: list[bytes] = [b""]
        self._codes: list[str] = []

    def write(self) -> bytes:
        out, model = self._out, self._model
        subgraphs = [self._subgraph(subgraph) for subgraph in (model, *model.others)]
        metadata = [self._metadata(name, data) for name, data in model.metadata.items()]
        parts = {
            "Subgraphs": self._offsets(subgraphs),
            "Metadata": self._offsets(metadata),
            "Buffers": self._offsets([self._buffer(data) for data in self._buffers]),
            "OperatorCodes": self._offsets([self._code(name) for name in self._codes]),
        }
        tflite.ModelStart(out)
        tflite.ModelAddVersion(out, model.version)
        for name, offset in parts.items():
            getattr(tflite, f"ModelAdd{name}")(out, offset)
        out.Finish(tflite.ModelEnd(out), file_identifier=b"TFL3")
        return bytes(out.Output())

    def _subgraph(self, subgraph: SubgraphBuilder) -> int:
        out = self._out
        name = out.CreateString(subgraph.name)
        tensors = self._offsets([self._tensor(tensor) for tensor in subgraph.tensors])
        operators = self._offsets([self._operator(operator) for operator in subgraph.operators])
        inputs, outputs = self._integers(subgraph.inputs), self._integers(subgraph.outputs)
        tflite.SubGraphStart(out)
        tflite.SubGraphAddName(out, name)
        tflite.SubGraphAddTensors(out, tensors)
        tflite.SubGraphAddOperators(out, operators)
        tflite.SubGraphAddInputs(out, inputs)
        tflite.SubGraphAddOutputs(out, outputs)
        return tflite.SubGraphEnd(out)

    def _tensor(self, spec: TensorSpec) -> int:
        out = self._out
        name = out.CreateString(spec.name)
        shape = None if spec.shape is None else self._integers(spec.shape)
        signature = None if spec.signature is None else self._integers(spec.signature)
        quantization = self._quantization(spec)
        tflite.TensorStart(out)
        tflite.TensorAddName(out, name)
        if shape is not None:
            tflite.TensorAddShape(out, shape)
        if signature is not None:
            tflite.TensorAddShapeSignature(out, signature)
        tflite.TensorAddType(out, getattr(tflite.TensorType, spec.type.upper()))
        tflite.TensorAddBuffer(out, self._buffer_of(spec))
        if quantization is not None:
            tflite.TensorAddQuantization(out, quantization)
        tflite.TensorAddIsVariable(out, spec.variable)
        return tflite.TensorEnd(out)

    def _buffer_of(self, spec: TensorSpec) -> int:
        if spec.buffer is not None or spec.data is None:
            return spec.buffer or 0
        self._buffers.append(spec.data)
        return len(self._buffers) - 1

    def _quantization(self, spec: TensorSpec) -> int | None:
        out = self._out
        zero_points = spec.scales if spec.zero_points is None else spec.zero_points
        if not spec.scales and not zero_points:
            return None
        tflite.QuantizationParametersStartScaleVector(out, spec.scales)
        for _ in range(spec.scales):
            out.PrependFloat32(spec.scale)
        scale = out.EndVector()
        tflite.QuantizationParametersStartZeroPointVector(out, zero_points)
        for _ in range(zero_points):
            out.PrependInt64(spec.zero_point)
        zero_point = out.EndVector()
        tflite.QuantizationParametersStart(out)
        tflite.QuantizationParametersAddScale(out, scale)
        tflite.QuantizationParametersAddZeroPoint(out, zero_point)
        tflite.QuantizationParametersAddQuantizedDimension(out, spec.quantized_dimension)
        return tflite.QuantizationParametersEnd(out)

    def _operator(self, spec: OperatorSpec) -> int:
        out = self._out
        if spec.name not in self._codes:
            self._codes.append(spec.name)
        inputs = None if spec.inputs is None else self._integers(spec.inputs)
        outputs = None if spec.outputs is None else self._integers(spec.outputs)
        options = self._options(*spec.options) if spec.options else None
        custom = None if spec.custom_options is None else out.CreateByteVector(spec.custom_options)
        tflite.OperatorStart(out)
        tflite.OperatorAddOpcodeIndex(out, self._codes.index(spec.name))
        if inputs is not None:
            tflite.OperatorAddInputs(out, inputs)
        if outputs is not None:
            tflite.OperatorAddOutputs(out, outputs)
        if spec.options and options is not None:
            tflite.OperatorAddBuiltinOptionsType(out, getattr(tflite.BuiltinOptions, spec.options[0]))
            tflite.OperatorAddBuiltinOptions(out, options)
        if custom is not None:
            tflite.OperatorAddCustomOptions(out, custom)
        return tflite.OperatorEnd(out)

    def _options(self, table: str, fields: Mapping[str, Any]) -> int:
        """An options table, its fields named as the `tflite` package's `<table>Add<field>` functions."""
        out = self._out
        values = {name: self._option_value(value) for name, value in fields.items()}
        getattr(tflite, f"{table}Start")(out)
        for name, value in values.items():
            getattr(tflite, f"{table}Add{name}")(out, value)
        return getattr(tflite, f"{table}End")(out)

    def _option_value(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._out.CreateString(value)
        return self._integers(value) if isinstance(value, Sequence) else value

    def _code(self, name: str) -> int:
        out, model = self._out, self._model
        code = getattr(tflite.BuiltinOperator, name, None)
        custom = out.CreateString(name) if code is None else None
        number = tflite.BuiltinOperator.CUSTOM if code is None else code
        tflite.OperatorCodeStart(out)
        if not model.new_codes_only:
            tflite.OperatorCodeAddDeprecatedBuiltinCode(out, min(number, 127))
        if not model.old_codes_only:
            tflite.OperatorCodeAddBuiltinCode(out, number)
        if custom is not None:
            tflite.OperatorCodeAddCustomCode(out, custom)
        return tflite.OperatorCodeEnd(out)

    def _metadata(self, name: str, data: bytes) -> int:
        out = self._out
        self._buffers.append(data)
        text = out.CreateString(name)
        tflite.MetadataStart(out)
        tflite.MetadataAddName(out, text)
        tflite.MetadataAddBuffer(out, len(self._buffers) - 1)
        return tflite.MetadataEnd(out)

    def _buffer(self, data: bytes) -> int:
        out = self._out
        if not data:
            tflite.BufferStart(out)
            return tflite.BufferEnd(out)
        out.StartVector(1, len(data), 16)
        out.head = out.head - len(data)
        out.Bytes[out.head : out.head + len(data)] = data
        vector = out.EndVector()
        tflite.BufferStart(out)
        tflite.BufferAddData(out, vector)
        return tflite.BufferEnd(out)

    def _integers(self, values: Sequence[int]) -> int:
        self._out.StartVector(4, len(values), 4)
        for value in reversed(values):
            self._out.PrependInt32(value)
        return self._out.EndVector()

    def _offsets(self, values: Sequence[int]) -> int:
        self._out.StartVector(4, len(values), 4)
        for value in reversed(values):
            self._out.PrependUOffsetTRelative(value)
        return self._out.EndVector()
