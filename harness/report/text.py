"""Words and numbers as a report shows them."""

from __future__ import annotations

from typing import Final

from harness.domain.plan import TimelineBar
from harness.errors import printable

NAME_LIMIT: Final = 200
"""Characters of an untrusted name that are shown."""

VERDICT_WORDS: Final = {
    "ok": "ok",
    "over": "over",
    "under": "under",
    "fail": "fail",
    "does_not_link": "does not link",
    "error": "error",
    "not_run": "not run",
}
VERDICT_SIGNS: Final = {
    "ok": "✓",
    "over": "▲",
    "under": "▼",
    "fail": "✕",
    "does_not_link": "⊘",
    "error": "!",
    "not_run": "–",
}


def shown(text: str, limit: int = NAME_LIMIT) -> str:
    r"""Untrusted text, fit to be shown.

    What cannot be seen, or turns the writing direction, becomes an escape such as `\u202e`; what is too long is cut.
    """
    cut = text if len(text) <= limit else text[: limit - 1] + "…"
    return printable(cut)


def buffer_name(bar: TimelineBar) -> str:
    """A buffer of a memory plan in words; tensors need not have a name."""
    name = bar.name or bar.place
    return f"scratch of {name}" if bar.kind == "scratch" else name


def grouped(number: int | None) -> str:
    """A whole number with its thousands set apart; nothing for None."""
    return "" if number is None else f"{number:,}"


def signed(number: int | None) -> str:
    """The same with its sign, unless it is 0."""
    if number is None:
        return ""
    return f"{number:+,}" if number else "0"


def percent(value: float | None) -> str:
    """A share in percent, with its sign, unless it is 0."""
    if value is None:
        return ""
    return f"{value:+.2f} %" if value else "0 %"


def counted(number: int, one: str, many: str = "") -> str:
    """`1 model`, `2 models`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def moment(when: str) -> str:
    """A point in time to the minute, in UTC, from ISO 8601; what is not known stays empty."""
    return when[:16].replace("T", " ")
