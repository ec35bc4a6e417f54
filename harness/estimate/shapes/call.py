"""One operator as a shape rule sees it: the shapes that go in, and its constant operands."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from harness.domain.graph import Operator, Subgraph, Tensor, operator_place
from harness.errors import ModelError

Shape = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Call:
    """An operator with the shapes that its inputs have now.

    Attributes:
        model: the model's name, for messages.
        subgraph, operator: where it stands.
        tensors: the subgraph's tensors with their present shapes.
    """

    model: str
    subgraph: Subgraph
    operator: Operator
    tensors: Sequence[Tensor]

    def input(self, number: int) -> Tensor:
        """Input `number`.

        Raises:
            ModelError: it is absent.
        """
        inputs = self.operator.inputs
        if number >= len(inputs) or inputs[number] < 0:
            raise self.refused(f"its input {number} is absent")
        return self.tensors[inputs[number]]

    def has(self, number: int) -> bool:
        """Whether input `number` is there."""
        return number < len(self.operator.inputs) and self.operator.inputs[number] >= 0

    def shape(self, number: int = 0, rank: int | None = None) -> Shape:
        """The present shape of input `number`.

        Raises:
            ModelError: it is absent, or does not have `rank` dimensions.
        """
        shape = self.input(number).shape
        if rank is not None and len(shape) != rank:
            raise self.refused(f"its input {number} has {len(shape)} dimensions, not {rank}")
        return shape

    @property
    def shapes(self) -> list[Shape]:
        """The present shapes of all inputs that are there."""
        return [self.tensors[index].shape for index in self.operator.inputs if index >= 0]

    def output(self, number: int = 0) -> Tensor:
        """Output `number`, with the shape that it had before."""
        return self.tensors[self.operator.outputs[number]]

    def constant(self, number: int) -> Shape:
        """The whole numbers that input `number` holds.

        Raises:
            ModelError: they are not in the file, but computed on the device.
        """
        tensor = self.input(number)
        width = _WHOLE_NUMBERS.get(tensor.type)
        if tensor.data is None or width is None or len(tensor.data) < width * tensor.elements:
            raise self.refused(
                f"its input {number} is no constant of whole numbers: its shape is only known on the device"
            )
        return tuple(
            int.from_bytes(tensor.data[start : start + width], "little", signed=True)
            for start in range(0, width * tensor.elements, width)
        )

    def axis(self, value: int, rank: int) -> int:
        """A dimension's number, counted from the end when negative.

        Raises:
            ModelError: there is no such dimension.
        """
        if not -rank <= value < rank:
            raise self.refused(f"it works along dimension {value} of {rank}")
        return value % rank

    def axes(self, values: Sequence[int], rank: int) -> set[int]:
        """Several dimensions' numbers."""
        return {self.axis(value, rank) for value in values}

    def reshaped(self, wanted: Sequence[int]) -> Shape:
        """`wanted`, its one open dimension worked out from the number of elements of input 0.

        Raises:
            ModelError: the elements do not fit.
        """
        elements = math.prod(self.shape())
        known = math.prod(size for size in wanted if size != _OPEN)
        opened = list(wanted).count(_OPEN)
        if opened == 1 and known > 0 and elements % known == 0:
            return tuple(elements // known if size == _OPEN else size for size in wanted)
        if opened or known != elements:
            raise self.refused(f"{elements} elements of shape {list(self.shape())} do not fit into {list(wanted)}")
        return tuple(wanted)

    def same(self, one: int, other: int, what: str) -> None:
        """Require two sizes to be equal.

        Raises:
            ModelError: they are not.
        """
        if one != other:
            raise self.refused(f"{what}: {one} against {other}")

    def refused(self, why: str) -> ModelError:
        """The error for an operator that the new shapes do not suit."""
        return ModelError(why, where=f"{self.model}, {operator_place(self.subgraph, self.operator)}", hint=_HINT)


Rule = Callable[[Call], tuple[Shape, ...]]
"""The shapes of an operator's outputs. Raises ModelError where the inputs do not suit the operator."""

_OPEN: Final = -1
_WHOLE_NUMBERS: Final = {"int32": 4, "int64": 8}
_HINT: Final = "give another --input-shape, or convert the model with that input shape"
