"""Reading a model file, and saying what it is when it is no model."""

from __future__ import annotations

import hashlib
import os
import stat
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from harness.errors import ModelError
from harness.estimate.reading.containers import holds_model, unpacked

MAX_BYTES: Final = 64 * 1024 * 1024
"""No microcontroller holds a larger model; a larger file is a mistake."""

_LFS_START: Final = b"version https://git-lfs.github.com/spec/"


@dataclass(frozen=True)
class ModelFile:
    """The bytes of a model.

    Attributes:
        name: its file name, for messages and tables.
        data: the whole file.
        sha256: of `data`, in hex.
    """

    name: str
    data: bytes = field(repr=False)
    sha256: str

    @classmethod
    def of(cls, name: str, data: bytes) -> ModelFile:
        """A model from bytes in memory."""
        return cls(name, data, hashlib.sha256(data).hexdigest())


def file_name(path: Path) -> str:
    """The name of a file as text. Bytes in it that are no UTF-8, which no table or database takes, are escaped."""
    return os.fsencode(path.name).decode("utf-8", "backslashreplace")


def read_model(path: Path) -> ModelFile:
    """Read a model file. A C source with the model as an array, and a zip archive with one model, do as well.

    Raises:
        ModelError: it is missing, no regular file, empty, too large, or no TensorFlow Lite model of schema 3.
    """
    data = _read(path)
    if not holds_model(data):
        data = unpacked(data, str(path), MAX_BYTES) or data
    _check_identity(data, path)
    return ModelFile.of(file_name(path), data)


def _read(path: Path) -> bytes:
    try:
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            raise ModelError("this is a folder, not a model", where=path, hint="name the .tflite files inside it")
        if not stat.S_ISREG(status.st_mode):
            raise ModelError("this is no regular file", where=path)
        if status.st_size > MAX_BYTES:
            raise ModelError("the file is too large", where=path, measured=f"{status.st_size:,} bytes", expected=_LIMIT)
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise ModelError("there is no such file", where=path) from None
    except (OSError, ValueError) as error:  # a path with a zero character is a ValueError
        reason = error.strerror if isinstance(error, OSError) else error
        raise ModelError(f"the file cannot be read: {reason}", where=path) from error
    if len(data) > MAX_BYTES:
        raise ModelError("the file grew while it was read", where=path, expected=_LIMIT)
    return data


_LIMIT: Final = f"at most {MAX_BYTES:,} bytes"


def _check_identity(data: bytes, path: Path) -> None:
    if data.startswith(_LFS_START):
        raise ModelError("this is a Git LFS pointer, fetch the file", where=path, hint="git lfs pull")
    if not holds_model(data):
        raise ModelError(
            "this is no TensorFlow Lite model",
            where=path,
            measured=what_is(data),
            expected="the identifier TFL3 at byte 4",
        )


_KNOWN_STARTS: Final = (
    (b"\x7fELF", "an ELF file"),
    (b"PK\x03\x04", "a zip archive with no TensorFlow Lite model inside (a Keras model is one)"),
    (b"\x1f\x8b", "a gzip file"),
    (b"BZh", "a bzip2 file"),
    (b"\xfd7zXZ", "an xz file"),
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"\x89HDF", "an HDF5 file (a Keras model that was not converted)"),
    (b"%PDF", "a PDF document"),
    (b"\x93NUMPY", "a NumPy array"),
)


def what_is(data: bytes) -> str:
    """In words, what a file that is no model seems to be."""
    if not data:
        return "an empty file"
    if data[4:7] == b"TFL":
        return f"a TensorFlow Lite model of another schema (TFL{data[7:8].decode('ascii', 'replace')})"
    for start, name in _KNOWN_STARTS:
        if data.startswith(start):
            return name
    return _text_kind(data[:512]) or f"{len(data):,} bytes that start with {data[:8].hex(' ')}"


def _text_kind(start: bytes) -> str:
    try:
        text = start.decode("utf-8").lstrip().lower()
    except UnicodeDecodeError:
        return ""
    if text.startswith(("<!doctype", "<html")):
        return "an HTML page (the download failed, or needs a login)"
    return "a text file" if all(c.isprintable() or c.isspace() for c in text) else ""
