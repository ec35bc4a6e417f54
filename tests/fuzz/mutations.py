"""Random damage: to model files, where it hurts, and to serial streams."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from tests.support.spots import Spot

_INTERESTING = (*range(5), 8, 16, 127, 128, 255, 256, 0x7FFF, 0xFFFF, 0x10000, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)
_INSERTED = (b"\n", b"\r\n", b"#H1 ", b"\x00", b"ets Jun  8 2016 rst:0x8 (TG1WDT_SYS_RESET)\r\n")
_LARGEST_CHANGES = 4


def mutated_model(numbers: random.Random, model: bytes, places: Sequence[Spot], changes: int | None = None) -> bytes:
    """A model with some fields changed.

    Args:
        numbers: where chance comes from.
        model: a sound file.
        places: its spots.
        changes: how many; by chance when None.
    """
    data = bytearray(model)
    for _ in range(changes or numbers.randint(1, _LARGEST_CHANGES)):
        numbers.choices(_MODEL_CHANGES, weights=(12, 2, 1, 1))[0](numbers, data, places)
    return bytes(data)


def _change_field(numbers: random.Random, data: bytearray, places: Sequence[Spot]) -> None:
    kind = numbers.choice(("offset", "length", "vtable", "scalar", "element"))
    spot = numbers.choice([each for each in places if each.kind == kind] or list(places))
    before = int.from_bytes(data[spot.position : spot.position + spot.size], "little")
    choices = (numbers.choice(_INTERESTING), before + numbers.choice((-8, -4, -1, 1, 4, 8)), numbers.getrandbits(64))
    value = numbers.choice(choices) % (1 << 8 * spot.size)
    data[spot.position : spot.position + spot.size] = value.to_bytes(spot.size, "little")


def _copy_field(numbers: random.Random, data: bytearray, places: Sequence[Spot]) -> None:
    """Another field's value; an offset is made to lead where the other one leads."""
    target = numbers.choice(places)
    source = numbers.choice([each for each in places if each.size == target.size])
    value = int.from_bytes(data[source.position : source.position + source.size], "little")
    if target.kind == source.kind == "offset":
        value += source.position - target.position
    data[target.position : target.position + target.size] = (value % (1 << 8 * target.size)).to_bytes(
        target.size, "little"
    )


def _change_byte(numbers: random.Random, data: bytearray, _places: Sequence[Spot]) -> None:
    data[numbers.randrange(len(data))] = numbers.randrange(256)


def _cut(numbers: random.Random, data: bytearray, _places: Sequence[Spot]) -> None:
    """Later changes need a file that has its spots still: what is cut off becomes zeros."""
    start = numbers.randrange(len(data))
    data[start:] = bytes(len(data) - start)


_MODEL_CHANGES: tuple[Callable[[random.Random, bytearray, Sequence[Spot]], None], ...] = (
    _change_field,
    _copy_field,
    _change_byte,
    _cut,
)


def mutated_stream(numbers: random.Random, stream: bytes) -> bytes:
    """Serial bytes after a bad line: garbled, lost, doubled, swapped, cut, with noise in between."""
    data = bytearray(stream)
    for _ in range(numbers.randint(1, _LARGEST_CHANGES)):
        at = numbers.randrange(len(data) + 1)
        length = numbers.choice((1, 1, 1, 2, 8, 64))
        piece = bytes(data[at : at + length])
        change = numbers.randrange(6)
        if change == 0:
            data[at : at + length] = numbers.randbytes(len(piece))
        elif change == 1:
            del data[at : at + length]
        elif change == 2:
            data[at:at] = piece
        elif change == 3:
            data[at:at] = numbers.randbytes(length)
        elif change == 4:
            data[at : at + length] = bytes(value ^ 1 << numbers.randrange(8) for value in piece)
        else:
            data[at:at] = numbers.choice(_INSERTED)
    return bytes(data)
