"""Models inside other files: C arrays, as xxd and Arduino sketches have them, and zip archives."""

from __future__ import annotations

import io
import lzma
import re
import zipfile
import zlib
from collections.abc import Iterator
from typing import Final

from harness.errors import ModelError
from harness.files.text import decoded

IDENTIFIER: Final = b"TFL3"
_ZIP_START: Final = b"PK\x03\x04"
_SOURCES: Final = (".c", ".cc", ".cpp", ".h", ".hpp", ".ino")
_HEAD_BYTES: Final = 8

# Every repetition has an end, so that no file, whatever is in it, takes more than one pass.
_COMMENT: Final = re.compile(r"/\*.*?(?:\*/|\Z)|//[^\n]*", re.DOTALL)
_NAME: Final = r"\b(?P<name>\w{1,200})\s{0,20}\[(?P<size>[^\[\]{};]{0,200})\][^={};]{0,200}"
_ARRAY: Final = re.compile(_NAME + r"=\s{0,20}\{(?P<body>[^{}]*)(?P<end>\}|\Z)")
_DECLARED: Final = re.compile(r"\bextern\b[^;{}=\[]{0,200}\[[^;{}=]{0,200};")
_LENGTH: Final = r"\b{name}_(?:len|length|size)\s*=\s*(\d\w*)"


def holds_model(data: bytes) -> bool:
    """Whether these bytes start like a TensorFlow Lite model."""
    return data[4:8] == IDENTIFIER


def unpacked(data: bytes, place: str, limit_bytes: int) -> bytes | None:
    """The model inside a file that is none itself; None when it is neither C source nor an archive.

    Args:
        data: the whole file.
        place: what messages call it.
        limit_bytes: of a model in an archive.

    Raises:
        ModelError: there is not exactly one model inside, or it is damaged.
    """
    if data.startswith(_ZIP_START):
        return _from_archive(data, place, limit_bytes)
    text = _source_text(data)
    model = _from_source(text, place)
    if model is None and _DECLARED.search(text) and not _ARRAY.search(text):
        hint = "name the .cc, .cpp or .c file that holds the bytes"
        raise ModelError("this header only declares its arrays", where=place, hint=hint)
    return model


def _from_archive(data: bytes, place: str, limit_bytes: int) -> bytes | None:
    """The one model in a zip archive; None when there is none."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            models = dict(_members(archive, place, limit_bytes))
    except (*_UNREADABLE, zlib.error, lzma.LZMAError) as error:
        hint = "download it again, or unpack it yourself"
        raise ModelError(f"the zip archive cannot be read: {error}", where=place, hint=hint) from error
    except RuntimeError as error:  # zipfile's word for a member that needs a password
        raise ModelError("the zip archive is encrypted", where=place, hint="unpack it yourself") from error
    if len(models) > 1:
        raise _several(place, list(models), "unpack it, and name one of them")
    return next(iter(models.values()), None)


_UNREADABLE: Final = (zipfile.BadZipFile, NotImplementedError, OSError, EOFError, ValueError)


def _members(archive: zipfile.ZipFile, place: str, limit_bytes: int) -> Iterator[tuple[str, bytes]]:
    """The models in an archive, as they are or as arrays."""
    for member in archive.infolist():
        where = f"{place}, {member.filename}"
        with archive.open(member) as file:
            start = file.read(_HEAD_BYTES)
            if not holds_model(start) and not member.filename.lower().endswith(_SOURCES):
                continue
            data = start + file.read(limit_bytes + 1 - len(start))
        if len(data) > limit_bytes:
            raise ModelError("the file is too large", where=where, expected=f"at most {limit_bytes:,} bytes")
        model = data if holds_model(data) else _from_source(_source_text(data), where)
        if model:
            yield member.filename, model


def _source_text(data: bytes) -> str:
    """The text of a C source without its comments; empty when this is no text, or has no arrays."""
    if b"[" not in data:
        return ""
    try:
        text = decoded(data)
    except ValueError:  # an old comment, in an encoding of its own
        text = data.decode("latin-1")
    return "" if "\0" in text[:4096] else _COMMENT.sub(" ", text)


def _from_source(text: str, place: str) -> bytes | None:
    """The one model among the arrays of a C source; None when it has no arrays of bytes."""
    arrays = {match["name"]: match for match in _ARRAY.finditer(text)}
    models = {name: data for name, data in _byte_arrays(arrays) if holds_model(data)}
    if len(models) > 1:
        raise _several(place, list(models), "give each model a file of its own")
    for name, data in models.items():
        _check_length(text, arrays[name], data, f"{place}, array {name}")
    return next(iter(models.values()), None)


def _byte_arrays(arrays: dict[str, re.Match[str]]) -> Iterator[tuple[str, bytes]]:
    for name, match in arrays.items():
        numbers = [_number(text) for text in match["body"].split(",") if text.strip()]
        if numbers and all(0 <= number < 256 for number in numbers):
            yield name, bytes(numbers)


def _number(text: str) -> int:
    """A C integer; -1 for anything else. Signed bytes are bytes, too."""
    try:
        value = int(text.strip().rstrip("uUlL"), 0)
    except ValueError:
        return -1
    return value % 256 if -128 <= value < 0 else value


def _check_length(text: str, array: re.Match[str], data: bytes, where: str) -> None:
    """Compare an array with the lengths that the source gives it.

    Raises:
        ModelError: one of them is another; the array was cut off, or changed by hand.
    """
    declared = re.findall(_LENGTH.format(name=re.escape(array["name"])), text)
    lengths = [_number(length) for length in (array["size"], *declared) if length.strip()[:1].isdigit()]
    wrong = [length for length in lengths if length != len(data)]
    if wrong or not array["end"]:
        raise ModelError(
            "the array does not have the length that the source gives it" if wrong else "the array has no end",
            where=where,
            measured=f"{len(data):,} bytes",
            expected=f"{wrong[0]:,} bytes" if wrong else None,
            hint="it was cut off or edited: make it again with xxd -i",
        )


def _several(place: str, names: list[str], hint: str) -> ModelError:
    return ModelError("it holds several models", where=place, measured=", ".join(names[:5]), expected="one", hint=hint)
