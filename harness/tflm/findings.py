"""What the checks of a TFLM that somebody else has built find."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from harness.errors import HarnessError


@dataclass(frozen=True)
class LibraryFinding:
    """Something that a check has found.

    Attributes:
        check: which: `headers`, `library`, `configuration`, `operators`, `abi`, `kernels` or `link`.
        text: what, in a sentence.
        error: what stands in the way of a build; None for what is only good to know.
    """

    check: str
    text: str
    error: HarnessError | None = None


def obstacle(check: str, error: HarnessError) -> LibraryFinding:
    """A finding that stands in the way."""
    return LibraryFinding(check, error.what, error)


def raise_first(findings: Iterable[LibraryFinding], manifest: Path) -> None:
    """Refuse a library.

    Raises:
        HarnessError: the first that stands in the way; it says how to see the others.
    """
    errors = [finding.error for finding in findings if finding.error is not None]
    if not errors:
        return
    first, more = errors[0], len(errors) - 1
    all_shown = f"all {more + 1} findings: harness tflm check {manifest} --board …" if more else ""
    hint = "; ".join(part for part in (first.hint, all_shown) if part)
    raise type(first)(first.what, where=first.where, measured=first.measured, expected=first.expected, hint=hint)
