"""What the tests tell the fake TFLM, and what they hear from the firmware."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from harness.device import wire

BUILD_ID = "0123456789abcdef"
NONCE = "5f3a9c01"


@dataclass(frozen=True)
class Script:
    """What the fake TFLM does: the counterpart of `Script` in fake_tflm.cc. Writes are (offset, size)."""

    schema: int = 3
    refuse: int = 0
    head_bytes: int = 128
    tail_bytes: int = 64
    in_allocate: Sequence[tuple[int, int]] = ()
    in_invoke: Sequence[tuple[int, int]] = ()
    stack_depth: int = 0
    input_offset: int = 0
    input_bytes: int = 16
    growing_gaps: int = 0

    def packed(self) -> bytes:
        numbers = [self.schema, self.refuse, self.head_bytes, self.tail_bytes]
        writes = [*_padded(self.in_allocate, 2), *_padded(self.in_invoke, 3)]
        return (
            struct.pack("<4I", *numbers)
            + b"".join(struct.pack("<iI", *write) for write in writes)
            + struct.pack("<4I", self.stack_depth, self.input_offset, self.input_bytes, self.growing_gaps)
        )


def _padded(writes: Sequence[tuple[int, int]], count: int) -> list[tuple[int, int]]:
    return [*writes, *[(0, 0)] * (count - len(writes))]


@dataclass(frozen=True)
class Talk:
    """What the firmware said until its line was closed."""

    frames: list[wire.Frame]
    log: list[str]
    exit_code: int
    raw: bytes = field(repr=False)

    def bodies(self, kind: str) -> list[Mapping[str, object]]:
        return [frame.body.values for frame in self.frames if frame.kind == kind]

    def body(self, kind: str) -> Mapping[str, object]:
        (body,) = self.bodies(kind)
        return body
