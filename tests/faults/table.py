"""The outcomes as a Markdown table, and its place in this folder's README."""

from __future__ import annotations

import math
from collections.abc import Sequence

from tests.faults.bench import Outcome
from tests.support.places import CHECKOUT

README = CHECKOUT / "tests" / "faults" / "README.md"
START, END = "<!-- faults: written by `make faults` -->", "<!-- end of faults -->"
HEADER = ("fault", "verdict", "harness says", "seconds", "next run")


def table(outcomes: Sequence[Outcome]) -> str:
    """One line per fault; seconds are rounded up."""
    lines = [_line(HEADER), _line(["---"] * len(HEADER)), *(_line(_cells(outcome)) for outcome in outcomes)]
    return "\n".join(lines)


def write_table(text: str) -> None:
    """Put the table between its markers.

    Raises:
        ValueError: they are not there.
    """
    before, start, rest = README.read_text(encoding="utf-8").partition(START)
    _, end, after = rest.partition(END)
    if not start or not end:
        raise ValueError(f"{README} lacks the markers {START} and {END}")
    README.write_text(f"{before}{start}\n{text}\n{end}{after}", encoding="utf-8")


def _cells(outcome: Outcome) -> tuple[str, ...]:
    verdict = " ".join(filter(None, (outcome.row.verdict, outcome.row.error_class)))
    words = outcome.words.replace("|", "\\|")
    seconds = f"{math.ceil(outcome.seconds)} of {outcome.case.deadline_s:g}"
    return outcome.case.name, verdict, words, seconds, outcome.next_row.verdict


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
