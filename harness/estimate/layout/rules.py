"""The little language in which a generation's operator tables are written.

A rule says what one operator takes of the arena: its builtin data, the user data its Init allocates, and what its
Prepare does, step by step, as the kernel's source does it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from harness.domain.graph import Operator, Subgraph, Tensor


@dataclass(frozen=True, slots=True)
class Node:
    """An operator as a rule sees it.

    Attributes:
        subgraph, operator: where it stands.
        pointer_bytes: 4 or 8.
        creates_variable: whether this is the ASSIGN_VARIABLE that gives a resource variable its memory.
    """

    subgraph: Subgraph
    operator: Operator
    pointer_bytes: int
    creates_variable: bool = False

    def input(self, number: int) -> Tensor | None:
        """Input `number`; None when it is absent."""
        inputs = self.operator.inputs
        return self._tensor(inputs[number]) if number < len(inputs) else None

    @property
    def output(self) -> Tensor | None:
        """The first output."""
        return self._tensor(self.operator.outputs[0]) if self.operator.outputs else None

    @property
    def inputs(self) -> list[Tensor]:
        """All inputs that are there."""
        return [tensor for tensor in map(self._tensor, self.operator.inputs) if tensor is not None]

    def _tensor(self, index: int) -> Tensor | None:
        return self.subgraph.tensors[index] if index >= 0 else None

    def type(self, number: int = 0) -> str:
        """Element type of input `number`; empty when it is absent."""
        tensor = self.input(number)
        return tensor.type if tensor else ""

    def dim(self, number: int, dimension: int) -> int:
        """A dimension of input `number`; 0 when it has no such dimension."""
        return dimension_of(self.input(number), dimension)

    def out_dim(self, dimension: int) -> int:
        """A dimension of the output; 0 when it has no such dimension."""
        return dimension_of(self.output, dimension)

    def rank(self, number: int) -> int:
        """Number of dimensions of input `number`."""
        tensor = self.input(number)
        return len(tensor.shape) if tensor else 0

    def elements(self, number: int) -> int:
        """Number of elements of input `number`; 0 when it is absent."""
        tensor = self.input(number)
        return tensor.elements if tensor else 0

    def bytes(self, number: int) -> int:
        """Bytes of input `number`; 0 when it is absent."""
        tensor = self.input(number)
        return tensor.size_bytes if tensor else 0

    def channels(self, number: int) -> int:
        """Quantization scales of input `number`."""
        tensor = self.input(number)
        return tensor.quantization_channels if tensor else 0

    @property
    def out_elements(self) -> int:
        """Number of elements of the output."""
        return self.output.elements if self.output else 0

    @property
    def out_shape_bytes(self) -> int:
        """Bytes of a TfLiteIntArray that holds the output's shape."""
        return int_array_bytes(len(self.output.shape) if self.output else 0)


def dimension_of(tensor: Tensor | None, dimension: int) -> int:
    """A dimension of a tensor, negative ones counted from the end; 0 when there is none."""
    if tensor is None or not -len(tensor.shape) <= dimension < len(tensor.shape):
        return 0
    return tensor.shape[dimension]


def int_array_bytes(length: int) -> int:
    """Bytes of a TfLiteIntArray or TfLiteFloatArray: its length, then its elements."""
    return 4 + 4 * length


Size = Callable[[Node], int | None]
"""Bytes, or None when the kernel does not ask for them."""

Condition = Callable[[Node], bool]

INPUTS: Final = -2
"""Stands for all inputs in a list of temporary tensors."""

OUTPUT: Final = -1
"""Stands for the output in a list of temporary tensors."""


@dataclass(frozen=True)
class Temporary:
    """Temporary TfLiteTensors, by input number, OUTPUT or INPUTS; absent optional inputs take none."""

    tensors: tuple[int, ...]
    when: Condition | None = None


@dataclass(frozen=True)
class Persistent:
    """A buffer from the tail."""

    size: Size


@dataclass(frozen=True)
class Scratch:
    """A buffer that the planner places, in use while the operator runs."""

    size: Size


Step = Temporary | Persistent | Scratch


@dataclass(frozen=True)
class OpRule:
    """What one operator takes.

    Attributes:
        builtin_data: bytes of its parsed options, with 4-byte and with 8-byte pointers.
        builtin_align: their alignment, likewise.
        user_data: bytes that its Init allocates, likewise; 0 for none.
        prepare: what its Prepare does.
    """

    builtin_data: tuple[int, int] = (0, 0)
    builtin_align: tuple[int, int] = (4, 4)
    user_data: tuple[int, int] = (0, 0)
    prepare: tuple[Step, ...] = ()


Sizes = int | tuple[int, int]
OpTable = Mapping[str, OpRule]


def rule(builtin_data: Sizes, user_data: Sizes, *prepare: Step, align: Sizes = 4) -> OpRule:
    """A rule; a single number stands for both pointer sizes."""
    return OpRule(_both(builtin_data), _both(align), _both(user_data), prepare)


def with_kernel(reference: OpRule, user_data: Sizes, *prepare: Step) -> OpRule:
    """The rule of another kernel for an operator: its options are parsed into the same structure."""
    return replace(reference, user_data=_both(user_data), prepare=prepare)


def temporary(*tensors: int, when: Condition | None = None) -> Temporary:
    """Temporary tensors."""
    return Temporary(tensors, when)


def persistent(size: Size | Sizes, when: Condition | None = None) -> Persistent:
    """A buffer from the tail."""
    return Persistent(_size(size, when))


def scratch(size: Size | Sizes, when: Condition | None = None) -> Scratch:
    """A planned buffer."""
    return Scratch(_size(size, when))


def _both(sizes: Sizes) -> tuple[int, int]:
    return (sizes, sizes) if isinstance(sizes, int) else sizes


def _size(size: Size | Sizes, when: Condition | None) -> Size:
    wanted = size if callable(size) else _by_pointer(_both(size))
    if when is None:
        return wanted
    return lambda node: wanted(node) if when(node) else None


def _by_pointer(sizes: tuple[int, int]) -> Size:
    return lambda node: sizes[node.pointer_bytes == 8]


def is_int8(node: Node) -> bool:
    """Whether input 0 is 8-bit signed."""
    return node.type() == "int8"


def is_int16(node: Node) -> bool:
    """Whether input 0 is 16-bit signed."""
    return node.type() == "int16"


def is_quantized(node: Node) -> bool:
    """Whether input 0 is 8- or 16-bit signed."""
    return node.type() in {"int8", "int16"}


def is_float(node: Node) -> bool:
    """Whether input 0 is 32-bit floating point."""
    return node.type() == "float32"
