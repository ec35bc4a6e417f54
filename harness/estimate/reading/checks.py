"""What is wrong with a model that can be read.

A model is refused where no TFLM could give its tensors memory or run its operators in order. Where TFLM would run it,
but read outside its memory, it may be estimated yet not run (a hazard). What is only odd is a warning.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from harness.domain.graph import (
    Graph,
    Operator,
    Subgraph,
    Tensor,
    called_subgraphs,
    operator_place,
    quoted,
    tensor_place,
)
from harness.errors import ModelError
from harness.estimate.reading.operands import operand_hazards

MAX_TENSOR_BYTES: Final = 2**31 - 1
"""TFLM counts bytes and elements in 32-bit signed integers."""

MAX_CALL_DEPTH: Final = 100
"""TFLM runs a called subgraph on top of its caller's stack: long before this, no microcontroller has any left."""

MAX_WARNINGS: Final = 20


@dataclass(frozen=True)
class Findings:
    """What is odd about a model.

    Attributes:
        warnings: what the user should know.
        hazards: why no device must be given the model.
    """

    warnings: tuple[str, ...]
    hazards: tuple[str, ...]


def check_shapes(graph: Graph) -> None:
    """Refuse tensors that TFLM cannot give memory to.

    Raises:
        ModelError: an open dimension, a type without size, a tensor too large, too little constant data.
    """
    for subgraph, tensor in graph.tensors():
        if min(tensor.shape, default=0) < 0:
            raise _open_dimension(graph, subgraph, tensor)
        problem = _size_problem(tensor)
        if problem:
            raise ModelError(problem, where=f"{graph.model}, {tensor_place(subgraph, tensor)}")


def _open_dimension(graph: Graph, subgraph: Subgraph, tensor: Tensor) -> ModelError:
    known = ",".join(str(max(size, 1)) for size in tensor.shape)
    hint = f"give its shape, for example --input-shape {quoted(tensor.name)}={known}"
    if tensor.index not in graph.main.inputs or subgraph is not graph.main:
        hint = "give the shapes of the model's inputs with --input-shape NAME=…"
    where, measured = f"{graph.model}, {tensor_place(subgraph, tensor)}", f"shape {list(tensor.shape)}"
    return ModelError("a dimension is open (-1)", where=where, measured=measured, hint=hint)


def _size_problem(tensor: Tensor) -> str:
    if tensor.element_bytes == 0:
        return f"it is of type {tensor.type}, for which TFLM has no memory"
    if tensor.size_bytes > MAX_TENSOR_BYTES:
        return f"it takes {tensor.size_bytes:,} bytes, more than 2 GiB"
    if tensor.data is not None and len(tensor.data) < _stored_bytes(tensor):
        return f"its constant data has {len(tensor.data):,} bytes, but its shape needs {_stored_bytes(tensor):,}"
    return ""


def _stored_bytes(tensor: Tensor) -> int:
    """Bytes of its contents in the file, where two 4-bit elements share one."""
    return (tensor.elements + 1) // 2 if tensor.type == "int4" else tensor.size_bytes


def check_order(graph: Graph) -> None:
    """Refuse operators that cannot run in the order in which the file lists them.

    Raises:
        ModelError: a tensor that is read before it is written, written twice, or constant and written; calls to
            subgraphs that do not exist, run in a circle, or go too deep.
    """
    for subgraph in graph.subgraphs:
        _check_subgraph_order(graph, subgraph)
    _check_calls(graph)


def _check_subgraph_order(graph: Graph, subgraph: Subgraph) -> None:
    writer: dict[int, Operator] = {}
    for operator in subgraph.operators:
        for index in operator.outputs:
            if index < 0 or subgraph.tensors[index].is_variable:
                continue
            tensor = subgraph.tensors[index]
            if index in writer or tensor.is_constant:
                by = "an operator before it" if index in writer else "the file, as a constant"
                what = f"it writes {tensor_place(subgraph, tensor)}, which was written by {by}"
                raise ModelError(what, where=f"{graph.model}, {operator_place(subgraph, operator)}")
            writer[index] = operator
    ready = set(subgraph.inputs)
    for operator in subgraph.operators:
        for index in operator.inputs:
            if index in writer and index not in ready:
                raise ModelError(
                    f"it reads {tensor_place(subgraph, subgraph.tensors[index])} before it is written",
                    where=f"{graph.model}, {operator_place(subgraph, operator)}",
                    measured=f"written by operator {writer[index].index}",
                    expected="operators in the order in which they run, without a cycle",
                )
        ready.update(operator.outputs)


def _check_calls(graph: Graph) -> None:
    calls: dict[int, set[int]] = {subgraph.index: set() for subgraph in graph.subgraphs}
    for subgraph, operator in graph.operators():
        for called in called_subgraphs(operator):
            if not 0 <= called < len(graph.subgraphs):
                where = f"{graph.model}, {operator_place(subgraph, operator)}"
                expected = f"0 to {len(graph.subgraphs) - 1}"
                raise ModelError(
                    "it calls a subgraph that does not exist", where=where, measured=called, expected=expected
                )
            calls[subgraph.index].add(called)
    depth = 0
    while leaves := [index for index, called in calls.items() if not called & calls.keys()]:
        for index in leaves:
            del calls[index]
        depth += 1
        if depth > MAX_CALL_DEPTH:
            raise ModelError(
                "subgraphs call each other too deep", where=graph.model, expected=f"{MAX_CALL_DEPTH} levels"
            )
    if calls:
        raise ModelError("subgraphs call each other in a circle", where=f"{graph.model}, subgraphs {sorted(calls)}")


def inspect(graph: Graph) -> Findings:
    """What is odd about a model whose shapes and order are right."""
    hazards = tuple(
        f"{tensor_place(subgraph, tensor)} {reason}"
        for subgraph, tensor in graph.tensors()
        for reason in _quantization_hazards(tensor)
    )
    hazards += tuple(operand_hazards(graph))
    if "COMPRESSION_METADATA" in graph.metadata:
        hazards += ("the model's constants are compressed, which the builds of TFLM described here do not read",)
    return Findings(_some((*hazards, *_warnings(graph))), hazards)


def _some(warnings: tuple[str, ...]) -> tuple[str, ...]:
    """No more than a person will read."""
    if len(warnings) <= MAX_WARNINGS:
        return warnings
    return (*warnings[:MAX_WARNINGS], f"and {len(warnings) - MAX_WARNINGS} more oddities")


def _quantization_hazards(tensor: Tensor) -> Iterator[str]:
    if 0 < tensor.zero_points < tensor.scales:
        yield f"has {tensor.scales} scales but only {tensor.zero_points} zero points, and TFLM reads one for each scale"
    # Old converters give biases the dimension of their filters; kernels look at the filters' only.
    is_filter = len(tensor.shape) > 1
    if is_filter and tensor.quantization_channels > 1 and not 0 <= tensor.quantized_dimension < len(tensor.shape):
        yield f"is quantized along dimension {tensor.quantized_dimension}, but has {len(tensor.shape)} dimensions"


def _warnings(graph: Graph) -> Iterator[str]:
    yield from _dead_tensors(graph)
    for index in sorted(set(graph.main.inputs) & set(graph.main.outputs)):
        yield f"{tensor_place(graph.main, graph.main.tensors[index])} is both an input and an output of the model"
    for subgraph, tensor in graph.tensors():
        yield from (f"{tensor_place(subgraph, tensor)} {oddity}" for oddity in _oddities(tensor))
    called = {index for _, operator in graph.operators() for index in called_subgraphs(operator)}
    for subgraph in graph.subgraphs[1:]:
        if subgraph.index not in called:
            yield f"subgraph {subgraph.index} {quoted(subgraph.name)} is never called"


def _dead_tensors(graph: Graph) -> Iterator[str]:
    for subgraph in graph.subgraphs:
        used = {*subgraph.inputs, *subgraph.outputs}
        for operator in subgraph.operators:
            used.update(operator.inputs)
            used.update(operator.outputs)
        for tensor in subgraph.tensors:
            if tensor.index not in used and not tensor.is_constant and tensor.size_bytes:
                yield f"{tensor_place(subgraph, tensor)} is never used; TFLM gives it memory all the same"


def _oddities(tensor: Tensor) -> Iterator[str]:
    if tensor.scales and tensor.zero_points > tensor.scales:
        yield f"has {tensor.zero_points} zero points for {tensor.scales} scales"
    channels, dimension = tensor.quantization_channels, tensor.quantized_dimension
    if channels > 1 and 0 <= dimension < len(tensor.shape) and tensor.shape[dimension] != channels:
        yield f"has {channels} scales along dimension {dimension} of size {tensor.shape[dimension]}"
    if tensor.data is not None and len(tensor.data) > _stored_bytes(tensor):
        yield f"has {len(tensor.data):,} bytes of constant data, of which its shape needs {_stored_bytes(tensor):,}"
