"""The table in README.md is of these faults, and some of them in a real run."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

import pytest

from tests.faults.cases import CASES, ESP32, STM32
from tests.faults.table import END, README, START
from tests.support import esp32_probe

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


@pytest.fixture(scope="module", params=[STM32, ESP32])
def broken_board(request) -> Iterator[tuple[str, Bench]]:
    if request.param == ESP32:
        pytest.importorskip("esptool", reason="the extra `esp32` is not installed")
        esp32_probe.require_emulator()
    with bench(request.param, f"faults-{os.getpid()}") as board:
        yield request.param, board


@pytest.mark.slow
@pytest.mark.xdist_group("faults")
@pytest.mark.filterwarnings("ignore:set(Daemon|Name):DeprecationWarning")  # pySerial's, for ports on the network
def test_each_fault_gets_its_verdict_and_the_next_run_passes(broken_board: tuple[str, Bench]) -> None:
    kind, board = broken_board
    wrong = {}
    for case in (case for case in CASES if case.board == kind and (kind == ESP32 or case.name in _QUICK)):
        # How long it took depends on what else this machine does; `make faults` judges that.
        wrong[case.name] = [each for each in board.run(case).complaints if not each.startswith("took ")]
    assert {name: complaints for name, complaints in wrong.items() if complaints} == {}


def test_quick_cases_are_cases() -> None:
    assert set(_QUICK) <= {case.name for case in CASES}


def test_the_table_has_a_row_for_every_fault() -> None:
    table = README.read_text(encoding="utf-8").partition(START)[2].partition(END)[0]
    names = re.findall(r"^\| (.*?) \|", table, re.MULTILINE)
    assert names[2:] == [case.name for case in CASES]
