"""One process of the fuzzer: feeds one target, within bounds of time and memory, and reports what it found."""

from __future__ import annotations

import hashlib
import json
import random
import resource
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from tests.fuzz import targets
from tests.support.places import CHECKOUT

MEMORY_BYTES = 500_000_000
FINDS = CHECKOUT / ".cache" / "fuzz"
_MOST_FINDS = 20

Make = Callable[[random.Random], bytes]
Check = Callable[[random.Random, bytes], str]


@dataclass(frozen=True)
class Budget:
    """When to stop: after so many cases, or so many seconds, whichever comes first."""

    cases: int
    seconds: float


@dataclass
class Report:
    """What came of it.

    Attributes:
        target: what was fuzzed.
        cases: how many inputs.
        outcomes: how many of each kind.
        finds: broken promises, each with the file that holds the input.
        peak_bytes: the largest resident memory of the process.
    """

    target: str
    cases: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    finds: list[str] = field(default_factory=list)
    peak_bytes: int = 0


class HangError(BaseException):
    """A case took too long. No `except Exception` may swallow it."""


def fuzz(target: str, make: Make, check: Check, *, seed: str, budget: Budget, hang_s: int) -> Report:
    """Feed random inputs to a target until the budget is spent.

    Args:
        target: its name.
        make: makes an input.
        check: raises when a promise is broken; otherwise says in a word what came of the input.
        seed: of the random numbers; the same one gives the same inputs.
        budget: when to stop.
        hang_s: how long one case may take.
    """
    report = Report(target)
    deadline = time.monotonic() + budget.seconds
    signal.signal(signal.SIGALRM, _hung)
    while report.cases < budget.cases and time.monotonic() < deadline and len(report.finds) < _MOST_FINDS:
        numbers = random.Random(f"{seed} {report.cases}")  # noqa: S311 - no secret
        data = make(numbers)
        signal.alarm(hang_s)
        try:
            report.outcomes[check(numbers, data)] += 1
        except (Exception, HangError):  # noqa: BLE001 - whatever escapes is what is looked for
            report.finds.append(_keep(target, data, f"seed {seed!r}, case {report.cases}"))
        finally:
            signal.alarm(0)
        report.cases += 1
    report.peak_bytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return report


def _hung(_number: int, _frame: object) -> None:
    raise HangError


def _keep(target: str, data: bytes, origin: str) -> str:
    """Save an input with what it did."""
    FINDS.mkdir(parents=True, exist_ok=True)
    path = FINDS / f"{target}-{hashlib.sha256(data).hexdigest()[:16]}.bin"
    path.write_bytes(data)
    path.with_suffix(".txt").write_text(f"{origin}\n{traceback.format_exc()}", encoding="utf-8")
    return f"{traceback.format_exc().splitlines()[-1]} ({path}, {origin})"


def main() -> None:
    """`python -m tests.fuzz.worker TARGET SEED CASES SECONDS`: the report goes to standard output as JSON."""
    target, seed, cases, seconds = sys.argv[1:]
    budget = Budget(int(cases), float(seconds))
    if target == "board":
        with targets.on_board() as board:
            report = fuzz(target, board.any_model, board.check, seed=seed, budget=budget, hang_s=60)
    else:
        # Not for the board: an emulator reserves more address space than it ever uses.
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
        report = fuzz(target, *targets.ALONE[target], seed=seed, budget=budget, hang_s=10)
    print(json.dumps(report.__dict__))


if __name__ == "__main__":
    main()
