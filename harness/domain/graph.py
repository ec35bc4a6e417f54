"""A model as its file describes it: subgraphs of operators that read and write tensors."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Tensor:
    """An array that operators read or write.

    Attributes:
        index: its number in its subgraph.
        name: as the file gives it; untrusted text.
        type: TFLite's name of the element type, lower case, such as `int8`.
        element_bytes: bytes TFLM counts per element (1 for `int4`); 0 where TFLM knows no size.
        shape: dimensions; empty for a scalar. -1 stands for one that the file leaves open.
        shape_signature: the shape before conversion fixed it; -1 where it was open.
        buffer: number of its buffer.
        data: its constant contents inside the file; None when it has none.
        is_variable: whether it keeps its contents between two runs.
        scales, zero_points: lengths of its two quantization vectors.
        quantized_dimension: the dimension that per-channel scales count.
        shape_inferred: whether RESHAPE works out one of its dimensions on the device.
    """

    index: int
    name: str
    type: str
    element_bytes: int
    shape: tuple[int, ...]
    shape_signature: tuple[int, ...] = ()
    buffer: int = 0
    data: memoryview | None = field(default=None, repr=False, compare=False)
    is_variable: bool = False
    scales: int = 0
    zero_points: int = 0
    quantized_dimension: int = 0
    shape_inferred: bool = False

    @property
    def elements(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    @property
    def size_bytes(self) -> int:
        """Bytes that TFLM gives to its contents."""
        return math.prod(self.shape) * self.element_bytes

    @property
    def is_constant(self) -> bool:
        """Whether the file holds its contents."""
        return self.data is not None

    @property
    def quantization_channels(self) -> int:
        """Scales that TFLM sees: none unless there are zero points as well."""
        return self.scales if self.zero_points else 0


OptionValue = int | float | str | tuple[int, ...] | tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Operator:
    """One step of a subgraph.

    Attributes:
        index: its number in its subgraph.
        name: TFLite's name, such as `CONV_2D`; for a custom operator its own name, untrusted text.
        code: the builtin operator's number; 32 for every custom operator.
        byte_code, word_code: the file's older 8-bit field and newer 32-bit field that `code` is the larger of.
        version: of the operator.
        inputs, outputs: tensor numbers; -1 for an optional input that is absent.
        options: the fields of its options table, defaults filled in.
        has_custom_options: whether it carries opaque options of a custom operator.
        has_lists: whether the file has both its lists of inputs and outputs, be they empty.
    """

    index: int
    name: str
    code: int
    byte_code: int
    word_code: int
    version: int
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    options: Mapping[str, OptionValue] = field(default_factory=dict)
    has_custom_options: bool = False
    has_lists: bool = True

    @property
    def is_custom(self) -> bool:
        """Whether it is no builtin operator."""
        return self.code == CUSTOM

    def option(self, name: str, default: int = 0) -> int:
        """A whole-number option; `default` when the operator has no such option."""
        value = self.options.get(name, default)
        return int(value) if isinstance(value, int | float) else default


CUSTOM = 32
"""Builtin operator number that stands for every custom operator."""


@dataclass(frozen=True, slots=True)
class Subgraph:
    """A list of operators in the order in which they run, and the tensors they work on."""

    index: int
    name: str
    tensors: tuple[Tensor, ...]
    operators: tuple[Operator, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Graph:
    """A whole model.

    Attributes:
        model: the file's name.
        subgraphs: number 0 is the one that runs; others are called by operators.
        offline_plan: the words of the `OfflineMemoryAllocation` metadata, or None.
        metadata: names of all metadata entries.
    """

    model: str
    subgraphs: tuple[Subgraph, ...]
    offline_plan: tuple[int, ...] | None = None
    metadata: tuple[str, ...] = ()

    @property
    def main(self) -> Subgraph:
        """The subgraph that runs."""
        return self.subgraphs[0]

    @property
    def tensor_count(self) -> int:
        """Tensors over all subgraphs."""
        return sum(len(subgraph.tensors) for subgraph in self.subgraphs)

    def operators(self) -> Iterator[tuple[Subgraph, Operator]]:
        """Every operator with its subgraph, in the order in which TFLM prepares them."""
        for subgraph in self.subgraphs:
            for operator in subgraph.operators:
                yield subgraph, operator

    def tensors(self) -> Iterator[tuple[Subgraph, Tensor]]:
        """Every tensor with its subgraph, in file order."""
        for subgraph in self.subgraphs:
            for tensor in subgraph.tensors:
                yield subgraph, tensor


VariableName = tuple[OptionValue, OptionValue]
"""What a resource variable is known by: its container, and its name that operators share."""


def variable_name(operator: Operator) -> VariableName:
    """The resource variable that a VAR_HANDLE stands for."""
    return operator.options.get("container", ""), operator.options.get("shared_name", "")


def variable_names(graph: Graph) -> frozenset[VariableName]:
    """The resource variables of a model, each once."""
    return frozenset(variable_name(operator) for _, operator in graph.operators() if operator.name == "VAR_HANDLE")


def called_subgraphs(operator: Operator) -> tuple[int, ...]:
    """Numbers of the subgraphs that an operator runs, in the order in which TFLM visits them."""
    return tuple(operator.option(name) for name in _CALLS.get(operator.name, ()))


_CALLS = {
    "IF": ("then_subgraph_index", "else_subgraph_index"),
    "WHILE": ("cond_subgraph_index", "body_subgraph_index"),
    "CALL_ONCE": ("init_subgraph_index",),
}


def quoted(name: str, limit: int = 60) -> str:
    """An untrusted name, fit to be shown: in quotes, without control characters, not longer than `limit`."""
    shown = name if len(name) <= limit else name[: limit - 1] + "…"
    return repr(shown)


def tensor_place(subgraph: Subgraph, tensor: Tensor) -> str:
    """Where a message says that a tensor is."""
    return f"subgraph {subgraph.index}, tensor {tensor.index} {quoted(tensor.name)}"


def operator_place(subgraph: Subgraph, operator: Operator) -> str:
    """Where a message says that an operator is."""
    name = quoted(operator.name) if operator.is_custom else operator.name
    return f"subgraph {subgraph.index}, operator {operator.index} {name}"
