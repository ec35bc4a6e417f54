"""Results over time: where a model's memory or verdict is not what it was."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from harness.report.facts import DEVICE_VERDICTS, Change, History, ReportedAttempt
from harness.results.changes import key_changes, kind_of_change, with_reference


def histories(attempts: Iterable[ReportedAttempt]) -> list[History]:
    """One history per model, board and TFLM; those with regressions first, the latest of them on top.

    Args:
        attempts: in the order in which they were made.
    """
    series: dict[tuple[str, str, str], list[ReportedAttempt]] = {}
    for attempt in attempts:
        if attempt.verdict in DEVICE_VERDICTS:
            series.setdefault(attempt.series, []).append(attempt)
    found = [_history(members) for members in series.values() if len(members) > 1]
    return sorted(found, key=_urgency, reverse=True)


def _history(members: Sequence[ReportedAttempt]) -> History:
    first = members[0]
    return History(
        model=first.model,
        board=first.board,
        tflm=first.tflm,
        length=len(members),
        first=first,
        last=members[-1],
        levels=tuple(_levels(members)),
        changes=tuple(_changes(members)),
    )


def _levels(members: Sequence[ReportedAttempt]) -> Iterator[tuple[int, int]]:
    level: int | None = None
    for number, attempt in enumerate(members):
        if attempt.used_bytes is not None and attempt.used_bytes != level:
            level = attempt.used_bytes
            yield number, level


def _changes(members: Sequence[ReportedAttempt]) -> Iterator[Change]:
    pairs = zip(members, list(with_reference(members))[1:], strict=False)
    for number, (before, (measured, after)) in enumerate(pairs, 1):
        kind = kind_of_change(before, measured, after)
        if kind:
            reference = measured if measured and kind in ("grew", "shrank") else before
            yield Change(number, reference, after, kind, _changed_key(reference, after))


def _changed_key(before: ReportedAttempt, after: ReportedAttempt) -> tuple[str, ...]:
    names = ["model file"] if before.sha256 != after.sha256 else []
    return (*names, *(change.name for change in key_changes(before.key, after.key)))


def _urgency(history: History) -> tuple[bool, bool, str, int]:
    latest = max((change for change in history.changes if change.is_regression), key=_number, default=None)
    return (latest is not None, bool(history.changes), latest.after.when if latest else "", history.regressions)


def _number(change: Change) -> int:
    return change.number
