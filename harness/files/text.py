"""Text in files that people have made, in whatever encoding their editor or shell writes."""

from __future__ import annotations

import codecs
import json
from pathlib import Path

from harness.errors import HarnessError
from harness.files.safe import read_bounded

_WIDE_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)


def decoded(data: bytes) -> str:
    """The text in `data`: UTF-8, UTF-16 or UTF-32, with or without a byte order mark.

    PowerShell's `>` writes UTF-16, and some editors put a mark in front of UTF-8.

    Raises:
        ValueError: it is none of these.
    """
    encoding = json.detect_encoding(data)
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        wide = encoding if data.startswith(_WIDE_MARKS) else "UTF-8"
        raise ValueError(f"its text is no {wide} at byte {error.start}: save it as UTF-8") from error


def read_json(path: Path, limit_bytes: int, error: type[HarnessError], hint: str = "") -> object:
    """What the JSON in a file says.

    Args:
        path: the file.
        limit_bytes: what is longer is refused.
        error: the class of error to raise.
        hint: the advice that goes with it.

    Raises:
        HarnessError: of the class `error`; the file cannot be read, is too large, or is no JSON.
    """
    data = read_bounded(path, limit_bytes, error)
    try:
        return json.loads(decoded(data))
    except (ValueError, RecursionError) as cause:
        raise error(f"this is no JSON: {cause}", where=path, hint=hint) from cause
