"""The bytes of a model's input tensors: the firmware's own pattern, what the user gives, and how they get there."""

from __future__ import annotations

import random
import struct
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from harness.device.talk import Device
from harness.domain.measurement import TensorInfo
from harness.errors import UsageError

_FLOAT = "float32"
_INTEGER_BYTES: Mapping[str, int] = MappingProxyType(
    {"int8": 1, "uint8": 1, "bool": 1, "int16": 2, "int32": 4, "int64": 8}
)

# What an input command needs besides its hex digits.
_INPUT_COMMAND_BYTES = 128


def feed(
    device: Device, line_bytes: int, tensors: Sequence[TensorInfo], inputs: Sequence[bytes], model: int = 0
) -> None:
    """Write a model's input tensors.

    Args:
        device: TFLM has allocated the tensors there.
        line_bytes: the longest command line that it takes.
        tensors: its input tensors.
        inputs: their bytes, in order; none for the firmware's own pattern.
        model: its number in flash.

    Raises:
        UsageError: the inputs do not fit.
    """
    if not inputs:
        for index in range(len(tensors)):
            device.ask("fill", "ok", model=model, index=index)
        return
    check_inputs(tensors, inputs)
    piece_bytes = (line_bytes - _INPUT_COMMAND_BYTES) // 2
    for index, data in enumerate(inputs):
        for offset in range(0, len(data), piece_bytes):
            piece = data[offset : offset + piece_bytes]
            device.ask("input", "ok", model=model, index=index, offset=offset, hex=piece.hex())


def given_data(tensors: Sequence[TensorInfo], inputs: Sequence[bytes], random_seed: int | None) -> tuple[bytes, ...]:
    """What the user gives as inputs: bytes, or random data; empty for the firmware's own pattern."""
    if random_seed is None:
        return tuple(inputs)
    generator = random.Random(random_seed)  # noqa: S311  # test data, no secrets
    return tuple(_random_data(tensor, generator) for tensor in tensors)


def input_data(tensors: Sequence[TensorInfo], inputs: Sequence[bytes], random_seed: int | None) -> tuple[bytes, ...]:
    """The bytes that a device's input tensors are given, whoever chooses them.

    Raises:
        UsageError: a tensor's element type has no pattern.
    """
    return given_data(tensors, inputs, random_seed) or tuple(map(pattern, tensors))


def _random_data(tensor: TensorInfo, generator: random.Random) -> bytes:
    """Floats from -1 to 1; truth values; any bytes for integers."""
    if tensor.type == _FLOAT:
        return b"".join(struct.pack("<f", generator.uniform(-1.0, 1.0)) for _ in range(tensor.size_bytes // 4))
    data = generator.randbytes(tensor.size_bytes)
    return bytes(byte & 1 for byte in data) if tensor.type == "bool" else data


def check_inputs(tensors: Sequence[TensorInfo], inputs: Sequence[bytes]) -> None:
    """Make sure that each input tensor gets its bytes.

    Raises:
        UsageError: there are others.
    """
    sizes = [tensor.size_bytes for tensor in tensors]
    if [len(data) for data in inputs] != sizes:
        raise UsageError(
            "the input files do not fit the model's input tensors",
            measured=f"{[len(data) for data in inputs]} bytes",
            expected=f"{sizes} bytes",
            hint="--input takes raw tensor bytes, one file per input, in the model's order",
        )


def pattern(tensor: TensorInfo) -> bytes:
    """What the firmware's `fill` writes into a tensor, as wire.py defines it.

    Raises:
        UsageError: a tensor of another element type.
    """
    if tensor.type == _FLOAT:
        return b"".join(struct.pack("<f", 1.0 + 0.5 * (i % 16)) for i in range(tensor.size_bytes // 4))
    size = _INTEGER_BYTES.get(tensor.type)
    if size is None:
        raise UsageError("no input pattern for this element type", measured=tensor.type, hint="give --input files")
    return b"".join(((i * 37 + 11) % 256).to_bytes(size, "little") for i in range(tensor.size_bytes // size))
