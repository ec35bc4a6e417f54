"""Sound models whose vectors lie elsewhere: what an older flatbuffers builder, or another one, would have written."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from tests.support.spots import Spot, spots


@dataclass(frozen=True)
class Vector:
    """A vector of numbers or letters. Those of offsets stay where they are: offsets lead forward only.

    Attributes:
        pointer: where the offset lies that leads to it.
        position: of its length.
        count: its elements.
        element_bytes: of one of them; 1 when it holds nothing.
    """

    pointer: int
    position: int
    count: int
    element_bytes: int


def vectors(model: bytes) -> list[Vector]:
    """All vectors and strings, each once per offset that leads to it."""
    found = dict.fromkeys(spots(model))
    lengths = {spot.position for spot in found if spot.kind == "length"}
    elements = {spot.position: spot for spot in found if spot.kind in {"element", "offset"}}
    leads = {spot.position: spot.position + _word(model, spot.position) for spot in found if spot.kind == "offset"}
    tables = set(leads.values()) - lengths  # which start with an offset to their description
    return [
        Vector(pointer, target, _word(model, target), element.size)
        for pointer, target in leads.items()
        if pointer not in tables and target in lengths
        if (element := elements.get(target + 4, _NOTHING)).kind == "element"
    ]


_NOTHING = Spot(0, 1, "element")


def moved(model: bytes, vector: Vector) -> bytes:
    """The model with one vector at its end, where its elements lie at 4 mod 16: no more aligned than lengths are."""
    data = bytearray(model + bytes(-len(model) % 16))
    struct.pack_into("<I", data, vector.pointer, len(data) - vector.pointer)
    data += model[vector.position : vector.position + 4 + vector.count * vector.element_bytes]
    data += b"\0"  # which closes a string
    return bytes(data + bytes(-len(data) % 4))


def all_moved(model: bytes) -> bytes:
    """The model with every such vector moved."""
    for vector in vectors(model):
        model = moved(model, vector)
    return model


def _word(model: bytes, position: int) -> int:
    number: int = struct.unpack_from("<I", model, position)[0]
    return number
