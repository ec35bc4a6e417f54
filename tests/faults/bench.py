"""A virtual board that can be broken, and a harness session that works with it."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from harness.bench.boards import load_board
from harness.domain.recipe import Recipe
from harness.domain.reconciliation import Reconciliation
from harness.estimate import ModelFile
from harness.session import RunOptions, Session, open_session
from harness.virtual import launcher
from harness.virtual.launcher import VirtualBoard
from harness.virtual.link import Client
from tests.faults.cases import ESP32, STM32, Case
from tests.support.models import chain

# A hang is found by the device's watchdog: with a brief one, all faults are through in minutes.
_WATCHDOG_S = 2.0
_STEADY = ModelFile.of("steady.tflite", chain("LOGISTIC").build())
_TWICE = ModelFile.of("twice.tflite", chain("LOGISTIC", "LOGISTIC", size=1).build())
_TWICE_BYTES = 4
_RESTARTS = {STM32: "power_cycle", ESP32: "press_reset"}
_OTHER = ModelFile.of("other.tflite", chain("LOGISTIC", "LOGISTIC", size=64).build())


@dataclass(frozen=True)
class Outcome:
    """What came of one fault.

    Attributes:
        case: the fault.
        row: the run with it.
        words: what harness said, names that differ from run to run left out.
        seconds: until the verdict.
        next_row: the run after the fault was mended.
    """

    case: Case
    row: Reconciliation
    words: str
    seconds: float
    next_row: Reconciliation

    @property
    def complaints(self) -> list[str]:
        """What is not as it has to be; none is good."""
        case, row, said = self.case, self.row, " ".join(self.row.causes)
        wrong = {
            f"verdict {row.verdict}, not {case.verdict}": row.verdict != case.verdict,
            f"{row.error_class or 'no error'}, not {case.error}": not re.fullmatch(case.error, row.error_class),
            f"does not say {case.says!r}: {said}": bool(case.error) and not re.search(case.says, said),
            f"took {self.seconds:.1f} s of {case.deadline_s:g}": self.seconds > case.deadline_s,
            f"next run: {self.next_row.verdict}, {self.next_row.causes}": self.next_row.verdict != "ok",
        }
        return [complaint for complaint, is_wrong in wrong.items() if is_wrong]


class Bench:
    """One virtual board and one session with it.

    Args:
        board: the virtual board.
        session: works with it.
    """

    def __init__(self, board: VirtualBoard, session: Session, options: RunOptions) -> None:
        self._board = board
        self._session = session
        self._options = options

    def run(self, case: Case) -> Outcome:
        """Break the board, run, mend it, run again."""
        self._good_run(force=False)
        if case.connects:
            self._session.close()
        for command in case.faults:
            self._control(**command)
        started = time.monotonic()
        row = self._broken_run(case)
        seconds = time.monotonic() - started
        self._control(do="clear_faults")
        self._control(do=_RESTARTS[case.board])
        # A user follows the hint.
        next_row = self._good_run(force="--force-flash" in " ".join(row.causes))
        return Outcome(case, row, self._words(row), seconds, next_row)

    def _broken_run(self, case: Case) -> Reconciliation:
        if case.misdeed is None:
            return self._session.run(_OTHER if case.writes else _STEADY, self._options)
        recipe = Recipe(inputs=(bytes([case.misdeed]).ljust(_TWICE_BYTES, b"\0"),))
        return self._session.run(_TWICE, replace(self._options, recipe=recipe))

    def _good_run(self, *, force: bool) -> Reconciliation:
        return self._session.run(_STEADY, replace(self._options, force_flash=force))

    def _control(self, **command: object) -> None:
        with Client(self._board.socket) as client:
            client.control(command)

    def _words(self, row: Reconciliation) -> str:
        said = row.causes[0] if row.error_class else "measured as ever"
        return said.replace(self._board.probe_id, "PROBE").replace(self._board.port, "PORT")


@contextmanager
def bench(kind: str, name: str) -> Iterator[Bench]:
    """A bench with a board of this kind of its own, which is called `name`."""
    options = RunOptions(probe=name)
    board = replace(load_board(kind), watchdog_s=_WATCHDOG_S)
    if kind == ESP32:
        board = replace(board, defines={**board.defines, "HARNESS_TEST_FAULTS": "1"})
    with (
        launcher.start(board.machine or "", name) as unit,
        open_session(board, options, _silent) as session,
    ):
        yield Bench(unit, session, options)


def _silent(what: str, done: int, total: int) -> None:
    """Progress is of no interest here."""
