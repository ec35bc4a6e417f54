"""Health of the DUTs: how they have been doing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from harness.report.facts import ReportedAttempt, UnitHealth

RECENT: Final = 14
"""Attempts per unit that are shown one by one."""


def unit_health(attempts: Iterable[ReportedAttempt]) -> list[UnitHealth]:
    """Every unit that anything was tried on, the sickest first.

    Args:
        attempts: in the order in which they were made.
    """
    units: dict[tuple[str, str], list[ReportedAttempt]] = {}
    for attempt in attempts:
        if attempt.dut:
            units.setdefault((attempt.board, attempt.dut), []).append(attempt)
    return sorted((_health(members) for members in units.values()), key=lambda unit: -unit.error_percent)


def _health(members: Sequence[ReportedAttempt]) -> UnitHealth:
    last = members[-1]
    trouble = next((each for each in reversed(members) if each.verdict == "error"), None)
    return UnitHealth(
        dut=last.dut,
        board=last.board,
        attempts=len(members),
        counts=Counter(each.verdict for each in members),
        flaky=sum(each.flaky for each in members),
        recent=tuple(each.verdict for each in members[-RECENT:]),
        last_seen=last.when,
        trouble=trouble.causes[0] if trouble and trouble.causes else "",
        trouble_seen=trouble.when if trouble else "",
    )
