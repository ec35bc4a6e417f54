"""`make faults`: break a virtual board in every way, and see what harness says each time."""

from __future__ import annotations

import argparse
import os
import sys
from itertools import groupby

from tests.faults.bench import Outcome, bench
from tests.faults.cases import CASES
from tests.faults.table import table, write_table


def main() -> int:
    """Print the table; 1 when any row is wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("--write", action="store_true", help="put the table into tests/faults/README.md")
    parser.add_argument("--only", default="", metavar="TEXT", help="faults whose name has this text")
    options = parser.parse_args()
    outcomes: list[Outcome] = []
    cases = [case for case in CASES if options.only in case.name]
    for kind, of_kind in groupby(cases, lambda case: case.board):
        with bench(kind, f"faults-{os.getpid()}") as board:
            for case in of_kind:
                outcomes.append(board.run(case))
                print(f"{outcomes[-1].seconds:5.1f} s  {case.name}", file=sys.stderr)
    print(table(outcomes))
    if options.write:
        write_table(table(outcomes))
    wrong = [f"{outcome.case.name}: {text}" for outcome in outcomes for text in outcome.complaints]
    for line in wrong:
        print(f"wrong: {line}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
