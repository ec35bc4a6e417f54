"""From the bytes of a model to a Graph. Whatever a TFLM would follow on the device is checked on the way.

Plain struct reads instead of the `tflite` package's accessors: importing that package (with numpy) takes longer than
the whole estimate, and its accessors would have to be kept from every offset that was not checked before. The tests
compare what is read here, field by field, with what that package reads.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from harness.domain.graph import CUSTOM, Graph, Operator, OptionValue, Subgraph, Tensor, quoted
from harness.errors import ModelError
from harness.estimate.reading.flatbuffer import INT8, INT32, UINT8, UINT32, UINT64, FlatBuffer, Table
from harness.estimate.reading.schema import ELEMENT_TYPES, OPERATOR_NAMES, option_fields

SCHEMA_VERSION: Final = 3
OFFLINE_PLAN: Final = "OfflineMemoryAllocation"

MAX_TENSORS: Final = 4096
"""TFLM's planner alone would want 160 KB for so many, and its time grows with their square."""


def parse(data: bytes, name: str = "model") -> Graph:
    """Read a model.

    Args:
        data: a whole file that starts like a TensorFlow Lite model.
        name: what messages call it.

    Raises:
        ModelError: damaged, of another schema version, or with an index that leads nowhere.
    """
    model = FlatBuffer(data, name).root()
    version = model.integer(4, UINT32)
    if version != SCHEMA_VERSION:
        raise ModelError(
            "the model's schema version is not supported",
            where=name,
            measured=version,
            expected=SCHEMA_VERSION,
            hint="convert the model again with a current TensorFlow",
        )
    buffers = [_buffer(table, name, index) for index, table in enumerate(model.tables(12))]
    codes = [_operator_code(table) for table in model.tables(6)]
    subgraphs = [_Reader(name, buffers, codes, index).subgraph(table) for index, table in enumerate(model.tables(8))]
    if not subgraphs:
        raise ModelError("the model has no subgraph", where=name)
    tensors = sum(len(subgraph.tensors) for subgraph in subgraphs)
    if tensors > MAX_TENSORS:
        expected = f"at most {MAX_TENSORS}"
        raise ModelError("the model has too many tensors", where=name, measured=tensors, expected=expected)
    metadata = _metadata(model.tables(16), buffers, name)
    plan = metadata.get(OFFLINE_PLAN)
    return Graph(
        model=name,
        subgraphs=tuple(subgraphs),
        offline_plan=None if plan is None else _offline_plan(plan, tensors, name),
        metadata=tuple(metadata),
    )


def _buffer(table: Table, model: str, index: int) -> memoryview | None:
    """A buffer's contents; None when it has none."""
    if table.integer(6, UINT64) > 1:
        raise ModelError(
            "the data lies behind the flatbuffer, where no TFLM reads it",
            where=f"{model}, buffer {index}",
            hint="convert the model without large-model support (it must be smaller than 2 GiB)",
        )
    return table.view(4) or None


class _OperatorCode(NamedTuple):
    """An entry of the model's operator table."""

    name: str
    byte_code: int
    word_code: int
    version: int


def _operator_code(table: Table) -> _OperatorCode:
    byte_code = table.integer(4, INT8)
    word_code = table.integer(10, INT32)
    code = max(byte_code, word_code)
    custom_name = table.text(6)
    if code == CUSTOM:
        name = custom_name or "(custom operator without a name)"
    else:
        name = OPERATOR_NAMES[code] if 0 <= code < len(OPERATOR_NAMES) else f"BUILTIN_{code}"
    return _OperatorCode(name, byte_code, word_code, table.integer(8, INT32, 1))


def _metadata(tables: Sequence[Table], buffers: Sequence[memoryview | None], model: str) -> dict[str, memoryview]:
    found: dict[str, memoryview] = {}
    for index, table in enumerate(tables):
        name = table.text(4) or ""
        buffer = table.integer(6, UINT32)
        if buffer >= len(buffers):
            where = f"{model}, metadata {index} {quoted(name)}"
            raise ModelError("a buffer number is out of range", where=where, measured=buffer, expected=_below(buffers))
        found.setdefault(name, buffers[buffer] or memoryview(b""))
    return found


def _offline_plan(data: memoryview, tensors: int, model: str) -> tuple[int, ...]:
    """The words of an offline plan: version, subgraph, count, then one offset per tensor of the whole model.

    Raises:
        ModelError: the count is not the number of tensors, or the words are missing: TFLM would read past them.
    """
    words = memoryview(data[: len(data) // 4 * 4]).cast("i")
    if len(words) < 3 or words[2] != tensors or len(words) < 3 + tensors:
        raise ModelError(
            "the offline memory plan has the wrong length",
            where=f"{model}, metadata {OFFLINE_PLAN}",
            measured=f"{len(words)} words" + (f", for {words[2]} tensors" if len(words) > 2 else ""),
            expected=f"{3 + tensors} words, for {tensors} tensors",
        )
    for number, offset in enumerate(words[3 : 3 + tensors]):
        if offset < -1:
            where = f"{model}, metadata {OFFLINE_PLAN}, tensor {number}"
            raise ModelError("an offset lies before the arena", where=where, measured=offset, expected="-1 or more")
    return tuple(words[: 3 + tensors])


def _below(things: Sequence[object]) -> str:
    return f"a number below {len(things)}"


class _Reader:
    """Reads one subgraph."""

    def __init__(
        self, model: str, buffers: Sequence[memoryview | None], codes: Sequence[_OperatorCode], index: int
    ) -> None:
        self._model = model
        self._buffers = buffers
        self._codes = codes
        self._index = index

    def subgraph(self, table: Table) -> Subgraph:
        tensors = tuple(self._tensor(index, entry) for index, entry in enumerate(table.tables(4)))
        operators = tuple(self._operator(index, entry, len(tensors)) for index, entry in enumerate(table.tables(10)))
        inputs, outputs = table.numbers(6, INT32), table.numbers(8, INT32)
        self._check_indices(inputs, len(tensors), 0, "the subgraph's inputs")
        self._check_indices(outputs, len(tensors), 0, "the subgraph's outputs")
        return Subgraph(self._index, table.text(12) or "", tensors, operators, inputs, outputs)

    def _tensor(self, index: int, table: Table) -> Tensor:
        name = table.text(10) or ""
        where = f"{self._model}, subgraph {self._index}, tensor {index} {quoted(name)}"
        number = table.integer(6, INT8)
        if not 0 <= number < len(ELEMENT_TYPES):
            raise ModelError(
                "the element type is unknown", where=where, measured=number, expected=_below(ELEMENT_TYPES)
            )
        buffer = table.integer(8, UINT32)
        if buffer >= len(self._buffers):
            measured, expected = buffer, _below(self._buffers)
            raise ModelError("a buffer number is out of range", where=where, measured=measured, expected=expected)
        element = ELEMENT_TYPES[number]
        scales, zero_points, dimension = _quantization(table.table(12))
        return Tensor(
            index=index,
            name=name,
            type=element.name,
            element_bytes=element.size_bytes,
            shape=table.numbers(4, INT32),
            shape_signature=table.numbers(18, INT32),
            buffer=buffer,
            data=self._buffers[buffer],
            is_variable=table.integer(14, UINT8) != 0,
            scales=scales,
            zero_points=zero_points,
            quantized_dimension=dimension,
        )

    def _operator(self, index: int, table: Table, tensors: int) -> Operator:
        entry = table.integer(4, UINT32)
        if entry >= len(self._codes):
            where = f"{self._model}, subgraph {self._index}, operator {index}"
            expected = _below(self._codes)
            raise ModelError("an operator code is out of range", where=where, measured=entry, expected=expected)
        name, byte_code, word_code, version = self._codes[entry]
        inputs, outputs = table.numbers(6, INT32), table.numbers(8, INT32)
        place = f"operator {index} {quoted(name)}"
        self._check_indices(inputs, tensors, -1, place)
        self._check_indices(outputs, tensors, -1, place)
        self._check_indices(table.numbers(20, INT32), tensors, -1, place)
        if table.integer(22, UINT64) > 1:
            where = f"{self._model}, subgraph {self._index}, {place}"
            raise ModelError("its options lie behind the flatbuffer, where no TFLM reads them", where=where)
        return Operator(
            index=index,
            name=name,
            code=max(byte_code, word_code),
            byte_code=byte_code,
            word_code=word_code,
            version=version,
            inputs=inputs,
            outputs=outputs,
            options=_options(table.integer(10, UINT8), table.table(12)),
            has_custom_options=table.view(14) is not None,
            has_lists=table.has(6) and table.has(8),
        )

    def _check_indices(self, indices: Sequence[int], tensors: int, lowest: int, place: str) -> None:
        for index in indices:
            if not lowest <= index < tensors:
                raise ModelError(
                    "a tensor number is out of range",
                    where=f"{self._model}, subgraph {self._index}, {place}",
                    measured=index,
                    expected=f"{lowest} to {tensors - 1}",
                )


def _quantization(table: Table | None) -> tuple[int, int, int]:
    """Number of scales, number of zero points, quantized dimension."""
    if table is None:
        return 0, 0, 0
    return table.count(8, 4), table.count(10, 8), table.integer(16, INT32)


def _options(options_type: int, table: Table | None) -> Mapping[str, OptionValue]:
    """The fields of an options table, by name."""
    if table is None:
        return {}
    values: dict[str, OptionValue] = {}
    for number, field in enumerate(option_fields(options_type)):
        values[field.name] = _option(table, 4 + 2 * number, field.kind, field.default)
    return values


def _option(table: Table, field: int, kind: str, default: int) -> OptionValue:
    if kind == "f32":
        return table.real(field)
    if kind == "string":
        return table.text(field) or ""
    if kind == "[i32]":
        return table.numbers(field, INT32)
    return table.integer(field, _WHOLE[kind], default)


_WHOLE: Final = {"i8": INT8, "bool": UINT8, "i32": INT32}
