"""A model file at another input shape: what a device can be given."""

from __future__ import annotations

import struct
from collections.abc import Mapping

from harness.domain.graph import Subgraph, Tensor, tensor_place
from harness.errors import ModelError
from harness.estimate.reading.flatbuffer import UINT32, FlatBuffer, Table
from harness.estimate.reading.model_file import ModelFile
from harness.estimate.reading.parse import parse
from harness.estimate.shapes.call import Shape
from harness.estimate.shapes.open_dimensions import load_graph
from harness.estimate.shapes.resize import resize

# Fields of the schema's Model, SubGraph and Tensor.
_SUBGRAPHS = 8
_TENSORS = 4
_SHAPE = 4


def resize_model(model: ModelFile, shapes: Mapping[str, Shape]) -> ModelFile:
    """Rewrite a model to other input shapes.

    New shapes are appended to the file, and the tensors made to point at them: nothing else moves, so that weights keep
    their alignment, and shapes that several tensors shared stay as they are for the others.

    Args:
        model: the file.
        shapes: by the name of an input tensor, or by its number among the inputs.

    Raises:
        ModelError: as `resize`; or the file cannot be rewritten.
    """
    if not shapes:
        return model
    wanted = resize(load_graph(model), shapes)
    written = parse(model.data, model.name)
    tables = FlatBuffer(model.data, model.name).root().tables(_SUBGRAPHS)
    data = bytearray(model.data)
    done: dict[int, Shape] = {}
    for table, new, old in zip(tables, wanted.subgraphs, written.subgraphs, strict=True):
        for entry, tensor, before in zip(table.tables(_TENSORS), new.tensors, old.tensors, strict=True):
            if tensor.shape != before.shape:
                _point_to(data, _place(entry, model, new, tensor), tensor.shape)
            if done.setdefault(entry.position, tensor.shape) != tensor.shape:
                where = f"{model.name}, {tensor_place(new, tensor)}"
                raise ModelError("it shares its description with a tensor of another shape", where=where)
    result = ModelFile.of(model.name, bytes(data))
    if load_graph(result) != wanted:
        raise ModelError("the file cannot be rewritten to that shape", where=model.name)
    return result


def _place(entry: Table, model: ModelFile, subgraph: Subgraph, tensor: Tensor) -> int:
    """Where a tensor's table keeps the offset of its shape."""
    place = entry.pointer(_SHAPE)
    if place is None:
        raise ModelError("it has no shape to be changed", where=f"{model.name}, {tensor_place(subgraph, tensor)}")
    return place


def _point_to(data: bytearray, place: int, shape: Shape) -> None:
    """Append a shape, and let the offset at `place` lead to it."""
    data.extend(bytes(-len(data) % 4))
    UINT32.pack_into(data, place, len(data) - place)
    data.extend(struct.pack(f"<I{len(shape)}i", len(shape), *shape))
