"""Dimensions that the file leaves open."""

from __future__ import annotations

from dataclasses import replace

from harness.domain.graph import Graph, Operator, Subgraph, Tensor
from harness.estimate.reading.model_file import ModelFile
from harness.estimate.reading.parse import parse

OPEN = -1
"""Stands for a dimension that is not known."""


def load_graph(model: ModelFile) -> Graph:
    """Read a model. Its shapes may still hold open dimensions.

    Raises:
        ModelError: it is damaged, of another schema, or its indices lead nowhere.
    """
    return infer_reshapes(parse(model.data, model.name))


def infer_reshapes(graph: Graph) -> Graph:
    """Fill in the one open dimension that RESHAPE works out from its input, as TFLM's kernel does."""
    if not any(OPEN in tensor.shape for _, tensor in graph.tensors()):
        return graph
    return replace(graph, subgraphs=tuple(_infer(subgraph) for subgraph in graph.subgraphs))


def _infer(subgraph: Subgraph) -> Subgraph:
    tensors = list(subgraph.tensors)
    for operator in subgraph.operators:
        if operator.name == "RESHAPE":
            _infer_one(operator, tensors)
    return replace(subgraph, tensors=tuple(tensors))


def _infer_one(operator: Operator, tensors: list[Tensor]) -> None:
    if not operator.inputs or not operator.outputs or min(operator.inputs[0], operator.outputs[0]) < 0:
        return
    source, target = tensors[operator.inputs[0]], tensors[operator.outputs[0]]
    if target.shape.count(OPEN) != 1 or min(source.shape, default=0) < 0:
        return
    known = -target.elements
    if known > 0 and source.elements % known == 0:
        filled = tuple(source.elements // known if size == OPEN else size for size in target.shape)
        tensors[target.index] = replace(target, shape=filled, shape_inferred=True)
