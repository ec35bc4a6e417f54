"""A pytest plug-in: the fixture `dut`, for tests that say what a model may take on a board.

::

    @pytest.mark.harness_board("stm32f407-virtual")
    def test_keyword_spotting_fits(dut):
        assert dut.measure("kws_int8.tflite").min_working_arena_bytes < 60_000

The board is chosen on the command line (`--harness-board`), in the configuration (`harness_board`), or by the marker.
A test that is marked for other boards than the one chosen is skipped. Sessions stay open from test to test.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

# harness itself is imported by the fixtures: whoever has it installed must not wait for it in tests of other things.
if TYPE_CHECKING:
    from harness.domain.board import Board
    from harness.domain.estimate import Estimate
    from harness.domain.measurement import Measurement
    from harness.domain.reconciliation import Reconciliation
    from harness.estimate import ModelFile
    from harness.session import RunOptions, Session


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options that choose a unit."""
    group = parser.getgroup("harness", "memory of neural networks on microcontrollers")
    group.addoption("--harness-board", metavar="ID", help="Board to measure on, or a board file.")
    group.addoption("--harness-probe", metavar="ID", help="Unique id of its debug probe, when there are several.")
    group.addoption("--harness-port", metavar="PORT", help="Its serial port, when there are several.")
    group.addoption("--harness-tflm", metavar="NAME", default="crate", help="Where TFLM's sources come from.")
    parser.addini("harness_board", "Board to measure on when --harness-board is not given.", default="")


def pytest_configure(config: pytest.Config) -> None:
    """Tell pytest the markers."""
    config.addinivalue_line("markers", "harness_board(*ids): boards that a test with the fixture `dut` is meant for.")
    config.addinivalue_line("markers", "harness_arena(size_bytes): arena to give to the models of a test.")


class Measured:
    """A model that was measured.

    Args:
        session: where.
        model: which.
        options: how.
        result: what came out.
    """

    def __init__(self, session: Session, model: ModelFile, options: RunOptions, result: Reconciliation) -> None:
        self._session = session
        self._model = model
        self._options = options
        self.reconciliation = result

    @property
    def measurement(self) -> Measurement:
        """All that the device said."""
        if self.reconciliation.measurement is None:
            pytest.fail("\n".join((f"{self._model.name}: {self.reconciliation.verdict}", *self.reconciliation.causes)))
        return self.reconciliation.measurement

    @property
    def estimate(self) -> Estimate | None:
        """What was expected; None where there is no estimate."""
        return self.reconciliation.estimate

    @property
    def verdict(self) -> str:
        """What estimate and measurement say of each other; see `harness run`."""
        return self.reconciliation.verdict

    @property
    def arena_used_bytes(self) -> int:
        """What the interpreter's own call reports."""
        return self.measurement.arena_used_bytes

    @property
    def painted_used_bytes(self) -> int:
        """Bytes of the arena that were really written."""
        return self.measurement.painted_used_bytes

    @property
    def stack_used_bytes(self) -> int:
        """The stack's high-water mark."""
        return self.measurement.stack_used_bytes

    @cached_property
    def min_working_arena_bytes(self) -> int:
        """The smallest arena that works, searched on the device when a test first asks for it."""
        if self.measurement.min_working_arena_bytes is None:
            self.reconciliation = self._session.run(self._model, replace(self._options, min_arena=True))
        minimum = self.measurement.min_working_arena_bytes
        if minimum is None:
            pytest.fail(f"{self._model.name}: no arena that works was found")
        return minimum


class DutUnderTest:
    """The unit that tests measure on.

    Args:
        board: what kind it is.
        session: a connection to it.
        options: how to measure.
        folders: where models are looked for.
    """

    def __init__(self, board: Board, session: Session, options: RunOptions, folders: tuple[Path, ...]) -> None:
        self.board = board
        self._session = session
        self._options = options
        self._folders = folders

    def measure(self, model: str | Path) -> Measured:
        """Measure a model.

        Args:
            model: its file, from the test's own folder or from where pytest was started.
        """
        from harness.errors import HarnessError  # noqa: PLC0415 - see the head of this module
        from harness.estimate import read_model  # noqa: PLC0415

        path = next((folder / model for folder in self._folders if (folder / model).exists()), Path(model))
        try:
            read = read_model(path)
        except HarnessError as error:
            pytest.fail(str(error), pytrace=False)
        measured = Measured(self._session, read, self._options, self._session.run(read, self._options))
        if measured.verdict in ("fail", "error", "not_run"):
            pytest.fail("\n".join((f"{read.name}: {measured.verdict}", *measured.reconciliation.causes)), pytrace=False)
        return measured


class _Sessions:
    """One open session per board, for the whole run of pytest."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._stack = ExitStack()
        self._open: dict[str, tuple[Board, Session, RunOptions]] = {}

    def get(self, board_id: str) -> tuple[Board, Session, RunOptions]:
        """The session of a board, opened when it is first asked for."""
        if board_id not in self._open:
            from harness.bench.boards import load_board  # noqa: PLC0415 - see the head of this module
            from harness.session import RunOptions, open_session  # noqa: PLC0415

            board = load_board(board_id)
            options = RunOptions(
                tflm=self._config.getoption("--harness-tflm"),
                probe=self._config.getoption("--harness-probe"),
                port=self._config.getoption("--harness-port"),
            )
            session = self._stack.enter_context(open_session(board, options, _silent))
            self._open[board_id] = (board, session, options)
        return self._open[board_id]

    def close(self) -> None:
        """Give all boards back."""
        self._stack.close()


@pytest.fixture(scope="session")
def harness_sessions(pytestconfig: pytest.Config) -> Iterator[_Sessions]:
    """Connections that the tests of this run share."""
    sessions = _Sessions(pytestconfig)
    yield sessions
    sessions.close()


@pytest.fixture
def dut(request: pytest.FixtureRequest, harness_sessions: _Sessions) -> DutUnderTest:
    """The unit to measure on."""
    from harness.errors import HarnessError  # noqa: PLC0415 - see the head of this module

    try:
        board, session, options = harness_sessions.get(_board_for(request))
    except HarnessError as error:
        pytest.fail(str(error), pytrace=False)
    arena = request.node.get_closest_marker("harness_arena")
    if arena is not None:
        options = replace(options, recipe=replace(options.recipe, arena_size_bytes=arena.args[0]))
    return DutUnderTest(board, session, options, (request.path.parent, request.config.invocation_params.dir))


def _board_for(request: pytest.FixtureRequest) -> str:
    """The board's id that was chosen for a test."""
    chosen = str(request.config.getoption("--harness-board") or request.config.getini("harness_board"))
    marker = request.node.get_closest_marker("harness_board")
    meant_for: tuple[str, ...] = marker.args if marker else ()
    if chosen and meant_for and chosen not in meant_for:
        pytest.skip(f"for {', '.join(meant_for)}, and the board is {chosen}")
    if not chosen and not meant_for:
        pytest.fail("no board: give --harness-board, or mark the test with harness_board", pytrace=False)
    return chosen or meant_for[0]


def _silent(what: str, done: int, total: int) -> None:
    """Pytest shows how far it is."""
