"""Reader of NumPy files of input data."""

from __future__ import annotations

import io

import numpy as np

from harness.errors import UsageError


def array_bytes(file: bytes, place: object) -> bytes:
    """The elements of a `.npy` file's array, row by row, as they lie in a tensor.

    Args:
        file: its content.
        place: its name, for messages.

    Raises:
        UsageError: it is no such file, or holds Python objects.
    """
    try:
        array = np.load(io.BytesIO(file), allow_pickle=False)
    except (ValueError, EOFError, OSError) as error:
        raise UsageError(f"this is no NumPy file of numbers: {error}", where=place) from error
    if not isinstance(array, np.ndarray):
        raise UsageError("this is an archive of arrays", where=place, expected="a .npy file of one array")
    return np.ascontiguousarray(array).tobytes()
