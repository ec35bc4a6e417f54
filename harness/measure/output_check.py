"""Compares a model's outputs on the device with those on the host."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from harness.domain.measurement import Measurement, TensorInfo
from harness.domain.reconciliation import Reconciliation
from harness.errors import HarnessError, OutputMismatchError

FLOAT_TOLERANCE = 1e-5
"""How far apart floats may be, as a part of the host's value or of 1, whichever is larger."""

_FORMATS = {"int8": "b", "uint8": "B", "bool": "B", "int16": "h", "int32": "i", "int64": "q", "float32": "f"}


@dataclass(frozen=True)
class Difference:
    """The first element that differs.

    Attributes:
        tensor: number of the output.
        element: its number in the tensor, from 0, counted over all dimensions.
        device, host: the two values.
        count: how many elements differ, in all outputs.
    """

    tensor: int
    element: int
    device: float
    host: float
    count: int


def first_difference(
    tensors: Sequence[TensorInfo], device: Sequence[bytes], host: Sequence[bytes]
) -> Difference | None:
    """Compare output tensors: integers bit by bit, floats within FLOAT_TOLERANCE.

    Args:
        tensors: what the device says of its outputs.
        device: their bytes on the device, in order.
        host: their bytes on the host, in the same order.

    Raises:
        OutputMismatchError: other tensors than on the host, or some of an element type that cannot be compared.
    """
    if [len(data) for data in device] != [len(data) for data in host]:
        raise OutputMismatchError(
            "the device has other output tensors than the host",
            measured=f"{[len(data) for data in device]} bytes",
            expected=f"{[len(data) for data in host]} bytes",
        )
    found = [
        (number, element, *pair)
        for number, tensor in enumerate(tensors)
        for element, pair in _differences(tensor.type, device[number], host[number])
    ]
    return Difference(*found[0], count=len(found)) if found else None


def with_output_check(row: Reconciliation, measured: Measurement, host: Sequence[bytes], tflm: str) -> Reconciliation:
    """A row with the verdict `fail` when outputs differ, and with a cause that names the first difference.

    Args:
        row: of the model.
        measured: with the device's outputs.
        host: the host's.
        tflm: what ran on the host, for people.
    """
    try:
        found = first_difference(measured.outputs, measured.output_data, host)
    except OutputMismatchError as error:
        return _failed(row, str(error))
    if found is None:
        return replace(row, causes=(*row.causes, f"the outputs are those of {tflm} on the host"))
    return _failed(
        row,
        f"output {found.tensor}, element {found.element}: {found.device:.9g} on the device (TFLM {measured.tflm}), "
        f"{found.host:.9g} on the host ({tflm}); {found.count} elements differ",
    )


def unchecked(row: Reconciliation, error: HarnessError) -> Reconciliation:
    """A row whose outputs were to be checked and could not be."""
    words = str(error).replace("\n", "; ")
    return replace(
        row,
        verdict="error",
        causes=(f"the outputs were not checked: {words}", *row.causes),
        exit_code=max(row.exit_code, error.exit_code),
        error_class=type(error).__name__,
    )


def _failed(row: Reconciliation, cause: str) -> Reconciliation:
    return replace(
        row,
        verdict=OutputMismatchError.verdict,
        causes=(cause, *row.causes),
        exit_code=max(row.exit_code, OutputMismatchError.exit_code),
        error_class=OutputMismatchError.__name__,
    )


def _differences(kind: str, device: bytes, host: bytes) -> Iterator[tuple[int, tuple[float, float]]]:
    """The elements that differ, with both values."""
    if kind not in _FORMATS:
        raise OutputMismatchError("outputs of this element type cannot be compared", measured=kind)
    pairs = zip(_numbers(kind, device), _numbers(kind, host), strict=True)
    is_float = kind == "float32"
    return (
        (element, pair) for element, pair in enumerate(pairs) if not (_near(*pair) if is_float else pair[0] == pair[1])
    )


def _numbers(kind: str, data: bytes) -> list[float]:
    return [number for (number,) in struct.iter_unpack(f"<{_FORMATS[kind]}", data)]


def _near(device: float, host: float) -> bool:
    if math.isfinite(device) and math.isfinite(host):
        return abs(device - host) <= FLOAT_TOLERANCE * max(1.0, abs(host))
    return device == host or (math.isnan(device) and math.isnan(host))
