"""Texts on the serial line that are no frames: what a chip's own words mean, and noise."""

from __future__ import annotations

import re
from collections.abc import Sequence

from harness.domain.family import ChipWords
from harness.errors import HarnessError, ProtocolError

_SHOWN_CHARACTERS = 80
_ESCAPED = re.compile(r"\\x[0-9a-f]{2}|\ufffd")
_NOISE_SHARE = 0.3
"""Text at another speed becomes bytes of which most are no text; in damaged text few are."""


def explain(lines: Sequence[str], port: str, words: ChipWords) -> HarnessError | None:
    """The trouble that the lines tell of; None when they tell of none.

    Args:
        lines: what came instead of a frame.
        port: where.
        words: what such a chip may say.
    """
    for known in words.boot_texts:
        line = next((line for line in lines if re.search(known.pattern, line)), None)
        if line is not None:
            return known.error(known.what, where=port, measured=line[:_SHOWN_CHARACTERS].strip(), hint=known.hint)
    return None


def explain_noise(lines: Sequence[str], port: str, words: ChipWords) -> ProtocolError | None:
    """The error for a device that says something at another speed; None when it says anything else as well.

    Args:
        lines: what came instead of a frame, bytes that are no text escaped.
        port: where.
        words: what such a chip may say, and how fast.
    """
    if not lines or not all(map(_is_noise, lines)):
        return None
    before = f"{words.boot_speed}, " if words.boot_speed else ""
    return ProtocolError(
        "what the device says arrives as noise",
        where=port,
        measured=f"{len(lines)} lines, the last: {lines[-1][:_SHOWN_CHARACTERS]}",
        hint=f"{before}harness's firmware talks at the board file's baud_rate: is it running at all?",
    )


def _is_noise(line: str) -> bool:
    """Whether too many of its characters are bytes that are no text."""
    strange = len(_ESCAPED.findall(line))
    plain = len(_ESCAPED.sub("", line))
    return strange > _NOISE_SHARE * (strange + plain)
