"""A model's graph at another input shape."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from harness.domain.graph import Graph, Operator, Subgraph, Tensor, called_subgraphs, operator_place, quoted
from harness.errors import ModelError, UsageError
from harness.estimate.shapes.call import Call, Shape
from harness.estimate.shapes.rules import output_shapes

_MAX_CALLS: Final = 200
"""From subgraph to subgraph; a model that calls in a circle ends here."""


def parse_input_shape(text: str) -> tuple[str, Shape]:
    """Read NAME=1,96,96,1.

    Raises:
        UsageError: it is written otherwise, or a dimension is not positive.
    """
    name, _, numbers = text.rpartition("=")
    parts = [part.strip() for part in numbers.split(",")]
    if not name or not all(_is_size(part) for part in parts):
        raise UsageError(
            "this is no input shape",
            where=f"--input-shape {text!r}",
            expected="a tensor's name or an input's number, and its dimensions, such as image=1,96,96,1",
        )
    return name, tuple(int(part) for part in parts)


def _is_size(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) < 11 and 0 < int(text) < 2**31


def resize(graph: Graph, shapes: Mapping[str, Shape]) -> Graph:
    """Give inputs other shapes, and every tensor behind them the shape that follows.

    Args:
        graph: the model.
        shapes: by the name of an input tensor, or by its number among the inputs.

    Raises:
        ModelError: no such input, another number of dimensions, or operators whose shape rule is not known or that the
            shapes do not suit.
    """
    if not shapes:
        return graph
    if graph.offline_plan is not None:
        raise ModelError("the model's offline memory plan holds for its own input shape only", where=graph.model)
    resizer = _Resizer(graph)
    for name, shape in shapes.items():
        resizer.set_input(name, shape)
    resizer.follow(graph.main)
    return resizer.graph()


class _Resizer:
    """Keeps the present shapes of all tensors."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._tensors = [list(subgraph.tensors) for subgraph in graph.subgraphs]
        self._calls_left = _MAX_CALLS

    def graph(self) -> Graph:
        """The graph with the present shapes. None of them is left to be worked out on the device."""
        return replace(
            self._graph,
            subgraphs=tuple(
                replace(subgraph, tensors=tuple(replace(tensor, shape_inferred=False) for tensor in tensors))
                for subgraph, tensors in zip(self._graph.subgraphs, self._tensors, strict=True)
            ),
        )

    def set_input(self, name: str, shape: Shape) -> None:
        """Give an input of the model another shape."""
        tensor = self._input(name)
        if len(shape) != len(tensor.shape):
            raise ModelError(
                "the input has another number of dimensions",
                where=f"{self._graph.model}, input {quoted(tensor.name)}",
                measured=f"{len(shape)} in {list(shape)}",
                expected=f"{len(tensor.shape)}, as in {list(tensor.shape)}",
            )
        self._set(self._graph.main, tensor.index, shape)

    def _input(self, name: str) -> Tensor:
        main = self._graph.main
        found = [main.tensors[index] for index in main.inputs if main.tensors[index].name == name]
        if not found and name.isdecimal() and int(name) < len(main.inputs):
            found = [main.tensors[main.inputs[int(name)]]]
        if len(found) != 1:
            inputs = ", ".join(f"{number} ({quoted(main.tensors[i].name)})" for number, i in enumerate(main.inputs))
            raise ModelError(
                f"the model has {'several inputs' if found else 'no input'} called {quoted(name)}",
                where=self._graph.model,
                expected=f"the number, or the name, of one of its inputs: {inputs}",
            )
        return found[0]

    def follow(self, subgraph: Subgraph) -> None:
        """Work out the shapes behind those that have changed."""
        self._calls_left -= 1
        if self._calls_left < 0:
            raise ModelError(f"subgraphs call each other more than {_MAX_CALLS} times", where=self._graph.model)
        for operator in subgraph.operators:
            if not self._is_affected(subgraph, operator):
                continue
            if called_subgraphs(operator):
                shapes = self._called(subgraph, operator)
            else:
                call = Call(self._graph.model, subgraph, operator, self._tensors[subgraph.index])
                shapes = output_shapes(call)
            for output, shape in self._paired(subgraph, operator, operator.outputs, shapes):
                self._set(subgraph, output, shape)

    def _is_affected(self, subgraph: Subgraph, operator: Operator) -> bool:
        present = self._tensors[subgraph.index]
        return any(
            present[index].shape != subgraph.tensors[index].shape for index in operator.inputs if index >= 0
        ) or any(min(present[index].shape, default=0) < 0 for index in operator.outputs)

    def _called(self, subgraph: Subgraph, operator: Operator) -> Sequence[Shape]:
        """The shapes that the called subgraphs give back; they must agree, and a loop's must stay as they are."""
        arguments = [self._tensors[subgraph.index][index].shape for index in operator.inputs if index >= 0]
        passed = arguments[1:] if operator.name == "IF" else arguments
        results: list[Sequence[Shape]] = [passed] if operator.name == "WHILE" else []
        for number, index in enumerate(called_subgraphs(operator)):
            if not 0 <= index < len(self._graph.subgraphs):
                raise self._refused(subgraph, operator, "it calls a subgraph that does not exist")
            called = self._graph.subgraphs[index]
            for tensor, shape in self._paired(subgraph, operator, called.inputs, passed):
                self._set(called, tensor, shape)
            self.follow(called)
            if operator.name != "WHILE" or number == 1:  # the other one is the condition
                results.append([self._tensors[called.index][output].shape for output in called.outputs])
        if any(list(result) != list(results[0]) for result in results):
            raise self._refused(subgraph, operator, "the subgraphs that it calls do not agree on the shapes")
        return results[0] if operator.outputs else []

    def _paired(
        self, subgraph: Subgraph, operator: Operator, tensors: Sequence[int], shapes: Sequence[Shape]
    ) -> Iterable[tuple[int, Shape]]:
        if len(tensors) != len(shapes):
            raise self._refused(subgraph, operator, f"{len(tensors)} tensors get {len(shapes)} shapes")
        return zip(tensors, shapes, strict=True)

    def _refused(self, subgraph: Subgraph, operator: Operator, why: str) -> ModelError:
        return ModelError(why, where=f"{self._graph.model}, {operator_place(subgraph, operator)}")

    def _set(self, subgraph: Subgraph, index: int, shape: Shape) -> None:
        if index < 0:  # an output that nobody wants
            return
        tensors = self._tensors[subgraph.index]
        tensors[index] = replace(tensors[index], shape=shape)
