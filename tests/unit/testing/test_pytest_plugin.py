import pytest

pytest_plugins = "pytester"

# Stands in for the board: what harness.session.open_session gives, without one.
CONFTEST = """
import pytest
from contextlib import contextmanager
from dataclasses import replace
import harness.session
from harness.domain.reconciliation import RowSubject
from harness.errors import ArenaTooSmallError
from harness.results.reconcile import without_measurement
from tests.support.attempts import BOARD, result

class Session:
    searches = 0

    def run(self, model, options):
        if options.recipe.arena_size_bytes == 4:
            row = RowSubject(model.name, model.sha256, BOARD, "2020-07")
            return without_measurement(row, None, ArenaTooSmallError("too small"))
        Session.searches += options.min_arena
        return result(model=model.name, sha256=model.sha256, minimum=1052 if options.min_arena else None)

opened = []

@contextmanager
def fake(board, options, progress):
    opened.append((board.id, options.probe))
    yield Session()

harness.session.open_session = fake

@pytest.fixture
def opened_sessions():
    return opened

@pytest.fixture
def searches():
    return lambda: Session.searches
"""


@pytest.fixture
def run(pytester, monkeypatch, request):
    monkeypatch.syspath_prepend(request.config.rootpath)
    pytester.makeconftest(CONFTEST)
    (pytester.path / "kws.tflite").write_bytes(b"\x1c\0\0\0TFL3" + bytes(100))

    def run_tests(source, *options):
        pytester.makepyfile(source)
        return pytester.runpytest_inprocess("-p", "no:cacheprovider", *options)

    return run_tests


def test_a_team_says_what_a_model_may_take(run):
    ended = run(
        """
        def test_fits(dut, searches):
            measured = dut.measure("kws.tflite")
            assert measured.arena_used_bytes == 1000
            assert measured.verdict == "ok"
            assert searches() == 0
            assert measured.min_working_arena_bytes < 60_000
            assert measured.min_working_arena_bytes == 1052
            assert searches() == 1

        def test_does_not(dut):
            assert dut.measure("kws.tflite").min_working_arena_bytes < 1_000

        def test_one_session_serves_all(dut, opened_sessions):
            assert opened_sessions == [("stm32f407-virtual", "left")]
        """,
        "--harness-board=stm32f407-virtual",
        "--harness-probe=left",
    )
    ended.assert_outcomes(passed=2, failed=1)
    ended.stdout.fnmatch_lines(["*1052 < 1000*"])


def test_markers_choose_board_and_arena(run):
    ended = run(
        """
        import pytest

        @pytest.mark.harness_board("stm32f407-virtual")
        def test_here(dut):
            assert dut.board.id == "stm32f407-virtual"

        @pytest.mark.harness_board("stm32f407-virtual")
        @pytest.mark.harness_arena(4)
        def test_arena(dut):
            dut.measure("kws.tflite")
        """,
        "--strict-markers",
    )
    ended.assert_outcomes(passed=1, failed=1)
    ended.stdout.fnmatch_lines(["*kws.tflite: fail*", "*too small*"])


def test_a_test_for_another_board_is_skipped(run):
    ended = run(
        """
        import pytest

        @pytest.mark.harness_board("stm32f407-discovery")
        def test_elsewhere(dut):
            pass
        """,
        "--harness-board=stm32f407-virtual",
        "-rs",
    )
    ended.assert_outcomes(skipped=1)
    ended.stdout.fnmatch_lines(["*for stm32f407-discovery, and the board is stm32f407-virtual*"])


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ([], "*no board: give --harness-board*"),
        (["--harness-board=stm32f407-virtuel"], "*did you mean stm32f407-virtual*"),
    ],
)
def test_a_board_that_is_missing_or_unknown_is_an_error(run, options, told):
    ended = run("def test_it(dut): pass", *options)
    ended.assert_outcomes(errors=1)
    ended.stdout.fnmatch_lines([told])


def test_a_missing_model_is_told_without_a_traceback(run):
    ended = run("def test_it(dut): dut.measure('none.tflite')", "--harness-board=stm32f407-virtual")
    ended.assert_outcomes(failed=1)
    ended.stdout.fnmatch_lines(["*none.tflite: there is no such file*"])
    ended.stdout.no_fnmatch_line("*Traceback*")
