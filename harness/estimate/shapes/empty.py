"""Tensors with a dimension of 0: where they do no harm, and where a device would not survive them.

TFLM gives an empty tensor no memory. A kernel that is given one works on no elements, as long as the shapes follow from
each other; a few read or divide all the same. An operator must not write one: TFLM refuses that as a "dynamic tensor"
(CheckDynamicTensors in micro_interpreter_graph.cc). It lets pass the shape [0], in which old converters wrote scalars,
but gives it no memory either. What is said of each kernel was tried with the official wheel.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from harness.domain.graph import Graph, Operator, Subgraph, called_subgraphs, operator_place, tensor_place
from harness.errors import ModelError
from harness.estimate.shapes.call import Call
from harness.estimate.shapes.rules import output_shapes

_OLD_SCALAR: Final = (0,)

_STAYS_INSIDE_AN_OLD_SCALAR: Final = frozenset({"MEAN", "TRANSPOSE", "CONCATENATION", "ADD_N", "MIRROR_PAD"})
"""Operators whose kernels count what they write by the output's shape, and not by their inputs'."""

_REACHES_INTO_EMPTY_DATA: Final = frozenset(
    """
    ARG_MAX ARG_MIN BATCH_TO_SPACE_ND CONV_2D DEPTHWISE_CONV_2D FULLY_CONNECTED GATHER_ND MIRROR_PAD PRELU
    RESIZE_BILINEAR RESIZE_NEAREST_NEIGHBOR REVERSE_V2 SPACE_TO_BATCH_ND TRANSPOSE_CONV UNPACK
    """.split()  # noqa: SIM905 - a list of names reads better without quotes
)
"""Operators whose kernels read an empty input, or divide by its dimensions, when there is something to write."""

_REACHES_INTO_EMPTY_OPERANDS: Final = {
    **dict.fromkeys(("CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED", "REVERSE_V2", "MIRROR_PAD"), (1,)),
    **dict.fromkeys(("SLICE", "SPACE_TO_BATCH_ND", "BATCH_TO_SPACE_ND"), (1, 2)),
}
"""Operands - weights, axes, sizes - that a kernel reads although they are empty; an empty bias is none."""

_READ: Final = "the kernel would read where no memory is, or divide by 0, and the device crash"
_WRITTEN: Final = "the kernel would write where no memory is, and the device crash"


def check_empty_tensors(graph: Graph) -> None:
    """Refuse empty tensors that TFLM refuses, or that its kernels would reach into.

    Raises:
        ModelError: an operator writes an empty tensor, or its kernel would not stay inside of one.
    """
    for subgraph in graph.subgraphs:
        empty = {tensor.index for tensor in subgraph.tensors if 0 in tensor.shape}
        data = empty & {*subgraph.inputs, *(index for operator in subgraph.operators for index in operator.outputs)}
        for operator in subgraph.operators if empty else ():
            here = _Empty(graph.model, subgraph, operator, empty - data, data)
            for index, problem in ((here.operand, _READ), (here.data, here.data_problem())):
                if index is not None and problem:
                    raise here.error(index, problem)


@dataclass(frozen=True)
class _Empty:
    """An operator, and the empty tensors of its subgraph: operands that the file leaves empty, and data."""

    model: str
    subgraph: Subgraph
    operator: Operator
    empty_operands: set[int]
    empty_data: set[int]

    def error(self, index: int, problem: str) -> ModelError:
        """What is wrong about one of them."""
        tensor = self.subgraph.tensors[index]
        return ModelError(
            f"{tensor_place(self.subgraph, tensor)} is empty: {problem}",
            where=f"{self.model}, {operator_place(self.subgraph, self.operator)}",
            measured=f"shape {list(tensor.shape)}",
            hint="convert the model with shapes that have no 0",
        )

    @property
    def operand(self) -> int | None:
        """An empty operand that the kernel reads."""
        read = _REACHES_INTO_EMPTY_OPERANDS.get(self.operator.name, ())
        found = (index for number, index in enumerate(self.operator.inputs) if number in read)
        return next((index for index in found if index in self.empty_operands), None)

    @property
    def data(self) -> int | None:
        """The first input or output that is empty data."""
        return next((i for i in (*self.operator.inputs, *self.operator.outputs) if i in self.empty_data), None)

    def data_problem(self) -> str:
        """Why the operator cannot work on empty data; empty when it can, or is given none."""
        if self.data is None or called_subgraphs(self.operator):
            return ""
        tensors = self.subgraph.tensors
        outputs = tuple(tensors[index].shape for index in self.operator.outputs if index >= 0)
        if any(0 in shape and shape != _OLD_SCALAR for shape in outputs):
            return "TFLM does not let operators write it, and calls it a dynamic tensor"
        try:
            wanted = output_shapes(Call(self.model, self.subgraph, self.operator, tensors))
        except ModelError:
            return "its operator's outputs do not follow from its inputs, and the device may crash"
        if any(shape == _OLD_SCALAR and 0 not in other for shape, other in zip(outputs, wanted, strict=False)):
            return "" if self.operator.name in _STAYS_INSIDE_AN_OLD_SCALAR else _WRITTEN
        if outputs != wanted:
            return f"its operator's outputs should then have shapes {[list(shape) for shape in wanted]}"
        return _READ if self._reads_data() else ""

    def _reads_data(self) -> bool:
        read = [self.subgraph.tensors[index] for index in self.operator.inputs if index in self.empty_data]
        if self.operator.name == "MEAN":  # of 8-bit and 16-bit numbers it does not
            return bool(read) and read[0].type == "float32"
        return bool(read) and self.operator.name in _REACHES_INTO_EMPTY_DATA
