"""The table in README.md is of these faults, and some of them in a real run."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

import pytest

from tests.faults.cases import CASES
from tests.faults.table import END, README, START

pytest.importorskip("unicorn", reason="the extra `virtual` is not installed")

from tests.faults.bench import Bench, bench

_QUICK = (
    "probe answers WAIT while writing",
    "flash bit turns after verifying",
    "read-out protection level 1",
    "power cut while writing",
    "power fails for a moment in Invoke",
    "noise inside a command",
    "answer split into bytes",
    "command one second late",
    "device hangs in Invoke",
    "clocks 2 % fast",
    "clocks 5 % slow",
)


@pytest.fixture(scope="module")
def broken_board() -> Iterator[Bench]:
    with bench(f"faults-{os.getpid()}") as board:
        yield board


@pytest.mark.slow
@pytest.mark.xdist_group("faults")
@pytest.mark.parametrize("case", [case for case in CASES if case.name in _QUICK], ids=lambda case: case.name)
def test_the_fault_gets_its_verdict_and_the_next_run_passes(broken_board: Bench, case) -> None:
    outcome = broken_board.run(case)
    # How long it took depends on what else this machine does; `make faults` judges that.
    assert [each for each in outcome.complaints if not each.startswith("took ")] == []


def test_quick_cases_are_cases() -> None:
    assert set(_QUICK) <= {case.name for case in CASES}


def test_the_table_has_a_row_for_every_fault() -> None:
    table = README.read_text(encoding="utf-8").partition(START)[2].partition(END)[0]
    names = re.findall(r"^\| (.*?) \|", table, re.MULTILINE)
    assert names[2:] == [case.name for case in CASES]
