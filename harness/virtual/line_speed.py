"""What a serial line's two ends make of each other's bytes when they have different ideas of its speed."""

from __future__ import annotations

_TOLERANCE = 0.04
"""How far the two ends' speeds may differ: half a bit in the ten of a character, less what edges take."""


def as_received(data: bytes, device_baud: float, user_baud: float) -> bytes:
    """The bytes as they come out at the other end, whichever of the two has sent them."""
    if abs(device_baud - user_baud) <= _TOLERANCE * user_baud:
        return data
    return bytes(garbled(value) for value in data)


def garbled(value: int) -> int:
    """A byte as a receiver at another speed might take it: never the right one, and no ASCII for ASCII."""
    return value ^ 0xDB
