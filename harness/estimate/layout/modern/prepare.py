"""What kernels of TFLM check in Prepare: a model that breaks one of these rules is refused there, or crashes TFLM.

The rules are those of tensorflow/lite/micro/kernels/*.cc, tried with the official wheel. They are not all of them: what
keeps these may be refused by another one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from harness.domain.graph import Graph, operator_place
from harness.estimate.layout.rules import Node

MOST_CONCATENATED: Final = 10
"""kMaxInputNum of concatenation.cc."""

_LSTM_INPUTS: Final = 24
_SVDF_INPUTS: Final = 5


@dataclass(frozen=True)
class Check:
    """A rule of a kernel.

    Attributes:
        rule: in words, as an error says it.
        holds: whether an operator keeps it.
    """

    rule: str
    holds: Callable[[Node], bool]


def refused(graph: Graph) -> Iterator[str]:
    """The operators that Prepare refuses, each with its place and the rule that it breaks."""
    for subgraph, operator in graph.operators():
        node = Node(subgraph, operator, pointer_bytes=4)
        for check in CHECKS.get(operator.name, ()):
            if not check.holds(node):
                yield f"{operator_place(subgraph, operator)}: {check.rule}"
                break


def _count(inputs: int) -> Check:
    return Check(f"it takes {inputs} inputs", lambda node: len(node.operator.inputs) == inputs)


def _same_type(number: int = 0) -> Check:
    def holds(node: Node) -> bool:
        return node.output is None or node.input(number) is None or node.output.type == node.type(number)

    return Check(f"its output must have the type of input {number}", holds)


def _pairs(*pairs: tuple[str, str]) -> Check:
    known = ", ".join(f"{data} with {weights}" for data, weights in pairs)
    rule = f"it takes data and weights of these types: {known}"
    return Check(rule, lambda node: (node.type(0), node.type(1)) in pairs)


def _types(*names: str) -> Check:
    return Check(f"it takes {', '.join(names)} only", lambda node: node.type() in names)


def _svdf_shapes(node: Node) -> bool:
    rank, filters = node.operator.option("rank"), node.dim(1, 0)
    return (
        rank > 0
        and filters % rank == 0
        and node.rank(0) == 2
        and node.rank(1) == 2
        and node.dim(1, 1) == node.dim(0, 1)
        and node.rank(2) == 2
        and node.dim(2, 0) == filters
        and node.rank(4) == 2
        and node.dim(4, 0) == node.dim(0, 0)
        and node.dim(4, 1) == node.dim(2, 1) * filters
    )


def _svdf_types(node: Node) -> bool:
    if node.type(1) == "float32":
        return all(node.type(number) == "float32" for number in (0, 2, 4))
    whole = (node.type(0), node.type(1), node.type(4), node.type(2))
    return whole in {("int8", "int8", state, state) for state in ("int8", "int16")}


_CONVOLUTION: Final = (
    _same_type(),
    _pairs(("float32", "float32"), ("int16", "int8"), ("int8", "int8"), ("int8", "int4")),
)
_BLOCKS: Final = (_types("float32", "int8"), _same_type())

CHECKS: Final[Mapping[str, tuple[Check, ...]]] = {
    "CONV_2D": _CONVOLUTION,
    "DEPTHWISE_CONV_2D": _CONVOLUTION[1:],  # whose output's type nobody looks at
    "FULLY_CONNECTED": _CONVOLUTION,
    "BATCH_MATMUL": (
        _count(2),
        Check("both its matrices must have one type", lambda node: node.type(0) == node.type(1)),
        _types("float32", "int8", "int16"),
    ),
    "CONCATENATION": (
        Check(
            f"it takes at most {MOST_CONCATENATED} inputs", lambda node: len(node.operator.inputs) <= MOST_CONCATENATED
        ),
    ),
    "SPACE_TO_DEPTH": _BLOCKS,
    "DEPTH_TO_SPACE": _BLOCKS,
    "SVDF": (
        _count(_SVDF_INPUTS),
        Check(
            "its output must have as many units as it has filters per rank",
            lambda node: node.out_dim(1) * node.operator.option("rank") == node.dim(1, 0),
        ),
        Check("its weights and its state must match its input's shape and its rank", _svdf_shapes),
        Check("its input, weights and state must be all float32, or int8 with a state of int8 or int16", _svdf_types),
    ),
    "UNIDIRECTIONAL_SEQUENCE_LSTM": (
        _count(_LSTM_INPUTS),
        Check("its input must have 3 dimensions", lambda node: node.rank(0) == 3),
    ),
    **dict.fromkeys(("ADD", "SUB", "MUL", "DIV", "SQUARED_DIFFERENCE", "PRELU"), (_count(2),)),
    # These have no Prepare: they run, and read outside their list of inputs.
    **dict.fromkeys(("MAXIMUM", "MINIMUM"), (_count(2),)),
}
