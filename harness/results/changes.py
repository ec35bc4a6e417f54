"""Model of change over time: what an attempt is compared with, how much it differs, and what its key has changed in.

The command `history` and the report look at the same attempts in different ways; what a change is, is said here once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol, TypeVar


class Observed(Protocol):
    """An attempt, as much of it as a comparison needs."""

    @property
    def verdict(self) -> str:
        """One of domain.reconciliation.VERDICTS."""

    @property
    def used_bytes(self) -> int | None:
        """Measured; None when it was not."""


_Attempt = TypeVar("_Attempt", bound=Observed)


@dataclass(frozen=True)
class KeyChange:
    """A part of the key that is another one than before.

    Attributes:
        name: of the part.
        before, after: its values; empty where unknown.
    """

    name: str
    before: str
    after: str

    @property
    def is_known(self) -> bool:
        """Whether both values are."""
        return bool(self.before and self.after)

    def __str__(self) -> str:
        return f"{self.name}: {self.before} → {self.after}"


def with_reference(attempts: Iterable[_Attempt]) -> Iterator[tuple[_Attempt | None, _Attempt]]:
    """Each attempt behind the last one before it that has figures."""
    reference: _Attempt | None = None
    for attempt in attempts:
        yield reference, attempt
        reference = attempt if attempt.used_bytes is not None else reference


def grown_bytes(reference: Observed | None, attempt: Observed) -> int | None:
    """How many bytes more are used; None where one of them was not measured."""
    if reference is None or reference.used_bytes is None or attempt.used_bytes is None:
        return None
    return attempt.used_bytes - reference.used_bytes


def kind_of_change(before: Observed, reference: Observed | None, attempt: Observed) -> str:
    """What changed: `worse` (a verdict that was ok no longer is), `grew`, `shrank`, `better`; empty for nothing.

    Args:
        before: the attempt right before.
        reference: the last one before that has figures.
        attempt: the attempt.
    """
    if before.verdict == "ok" and attempt.verdict != "ok":
        return "worse"
    grown = grown_bytes(reference, attempt)
    if grown:
        return "grew" if grown > 0 else "shrank"
    return "better" if attempt.verdict == "ok" != before.verdict else ""


def key_changes(before: Mapping[str, str], after: Mapping[str, str]) -> tuple[KeyChange, ...]:
    """The parts of a key that differ, in the order of the newer one."""
    return tuple(
        KeyChange(name, before.get(name, ""), value) for name, value in after.items() if before.get(name, "") != value
    )
