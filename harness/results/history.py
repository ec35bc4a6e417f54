"""History of a model's figures over time, and which part of the key changed with them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harness.domain.attempt import Attempt
from harness.results.changes import grown_bytes, key_changes, with_reference

_Facts = dict[str, str]


@dataclass(frozen=True)
class HistoryStep:
    """Attempts in a row, of one board and arena, that found the same with the same key.

    Attributes:
        first, last: attempts.
        count: how many there were.
        changed: the parts of the key that are others than in the last step that has figures, as `name: old → new`.
        used_delta_bytes: bytes more than in that step; None where there is none.
    """

    first: Attempt
    last: Attempt
    count: int
    changed: tuple[str, ...]
    used_delta_bytes: int | None


def steps(attempts: Sequence[Attempt]) -> list[HistoryStep]:
    """Group a model's attempts into steps, board by board and, within it, arena by arena.

    Args:
        attempts: the oldest first.
    """
    series: dict[tuple[str, int], list[Attempt]] = {}
    for attempt in attempts:
        series.setdefault((attempt.board, attempt.asked_arena_bytes or 0), []).append(attempt)
    return [step for key in sorted(series) for step in _steps_of_one(series[key])]


def _steps_of_one(attempts: Sequence[Attempt]) -> list[HistoryStep]:
    groups: list[list[Attempt]] = []
    for attempt in attempts:
        if groups and _same(groups[-1][-1], attempt):
            groups[-1].append(attempt)
        else:
            groups.append([attempt])
    return [
        HistoryStep(
            first=group[0],
            last=group[-1],
            count=len(group),
            changed=_changes(reference, group[0]) if reference else (),
            used_delta_bytes=grown_bytes(reference, group[0]),
        )
        for group, (reference, _) in zip(groups, with_reference(group[-1] for group in groups), strict=True)
    ]


def _same(before: Attempt, after: Attempt) -> bool:
    return _figures(before) == _figures(after) and _built(before) == _built(after)


def _figures(attempt: Attempt) -> tuple[object, ...]:
    return attempt.verdict, attempt.used_bytes, attempt.minimum_bytes, attempt.estimate_bytes, attempt.error_class


def _built(attempt: Attempt) -> _Facts:
    """The part of the key that decides what is measured."""
    key = attempt.circumstances
    return {
        "model": attempt.sha256[:12],
        "TFLM": key.tflm_version or key.tflm,
        "TFLM sources": key.tflm_hash[:12],
        "kernels": key.kernels,
        "toolchain": key.toolchain,
        "flags": key.flags,
        "firmware": key.build_id,
        "corrections": ", ".join(attempt.corrections) or "none",
    }


def _ran(attempt: Attempt) -> _Facts:
    """The part of the key that should make no difference."""
    return {
        "unit": attempt.circumstances.unit,
        "host": attempt.host,
        "harness": attempt.harness_version,
    }


def _changes(before: Attempt, after: Attempt) -> tuple[str, ...]:
    """What changed in the key; where and by whom it was run counts only when nothing else did."""
    return _known(_built(before), _built(after)) or _known(_ran(before), _ran(after))


def _known(before: _Facts, after: _Facts) -> tuple[str, ...]:
    """Changes of facts that are known on both sides."""
    return tuple(str(change) for change in key_changes(before, after) if change.is_known)
