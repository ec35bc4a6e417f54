"""The input files of `run` and `min-arena`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from harness.errors import UsageError
from harness.files.safe import read_bounded

# No arena of a microcontroller holds a larger input.
_INPUT_LIMIT_BYTES = 16 * 1024 * 1024


def read_inputs(paths: Sequence[Path], random_seed: int | None = None) -> tuple[bytes, ...]:
    """The bytes of the input files.

    Raises:
        UsageError: one of them cannot be read, or is too large, or random data are wanted as well.
    """
    if paths and random_seed is not None:
        raise UsageError("--input and --random-input exclude each other")
    return tuple(map(_read, paths))


def _read(path: Path) -> bytes:
    data = read_bounded(path, _INPUT_LIMIT_BYTES, UsageError)
    if path.suffix != ".npy":
        return data
    from harness.estimate import array_bytes

    return array_bytes(data, path)
