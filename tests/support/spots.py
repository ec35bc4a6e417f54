"""Where the fields of a TensorFlow Lite file lie, so that a mutation can aim at them."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

# Field number → what the field holds: a scalar's size in bytes, `[size]` for a vector of scalars, a table's name, or
# `[name]` for a vector of tables. From schema.fbs, version 3.
_SCHEMA: Mapping[str, Mapping[int, str]] = {
    "Model": {0: "4", 1: "[OperatorCode]", 2: "[SubGraph]", 3: "[1]", 4: "[Buffer]", 5: "[4]", 6: "[Metadata]"},
    "OperatorCode": {0: "1", 1: "[1]", 2: "4", 3: "4"},
    "SubGraph": {0: "[Tensor]", 1: "[4]", 2: "[4]", 3: "[Operator]", 4: "[1]"},
    "Tensor": {0: "[4]", 1: "1", 2: "4", 3: "[1]", 4: "Quantization", 5: "1", 7: "[4]"},
    "Quantization": {2: "[4]", 3: "[8]", 6: "4"},
    "Operator": {0: "4", 1: "[4]", 2: "[4]", 3: "1", 4: "Options", 5: "[1]", 8: "[4]"},
    "Options": dict.fromkeys(range(6), "4"),
    "Buffer": {0: "[1]"},
    "Metadata": {0: "[1]", 1: "4"},
}
_LONGEST_LISTED = 64
"""Elements of a vector that are listed: weights are long and dull."""


@dataclass(frozen=True)
class Spot:
    """Bytes that mean something.

    Attributes:
        position: of the first.
        size: how many: 1, 2, 4 or 8.
        kind: `offset`, `length`, `vtable`, `scalar` or `element`.
    """

    position: int
    size: int
    kind: str


def spots(model: bytes) -> list[Spot]:
    """All that mean something in a sound file."""
    (root,) = struct.unpack_from("<I", model, 0)
    return [Spot(0, 4, "offset"), *_table(model, root, "Model")]


def _table(model: bytes, position: int, name: str) -> Iterator[Spot]:
    (distance,) = struct.unpack_from("<i", model, position)
    vtable = position - distance
    (vtable_bytes,) = struct.unpack_from("<H", model, vtable)
    yield Spot(position, 4, "offset")
    yield from (Spot(vtable + at, 2, "vtable") for at in range(0, vtable_bytes, 2))
    for number, what in _SCHEMA[name].items():
        at = 4 + 2 * number
        offset = struct.unpack_from("<H", model, vtable + at)[0] if at < vtable_bytes else 0
        if offset:
            yield from _field(model, position + offset, what)


def _field(model: bytes, place: int, what: str) -> Iterator[Spot]:
    if what.isdigit():
        yield Spot(place, int(what), "scalar")
        return
    yield Spot(place, 4, "offset")
    target = place + struct.unpack_from("<I", model, place)[0]
    if what.startswith("["):
        yield from _vector(model, target, what[1:-1])
    else:
        yield from _table(model, target, what)


def _vector(model: bytes, position: int, of: str) -> Iterator[Spot]:
    (count,) = struct.unpack_from("<I", model, position)
    yield Spot(position, 4, "length")
    for index in range(min(count, _LONGEST_LISTED)):
        if of.isdigit():
            yield Spot(position + 4 + index * int(of), int(of), "element")
        else:
            yield from _field(model, position + 4 + index * 4, of)
