import pytest

from harness.report.history import histories
from tests.support.outcomes import night, outcome


def only(*outcomes):
    (history,) = histories(outcomes)
    return history


def test_growth_is_a_regression_and_says_what_changed_with_it():
    history = only(
        outcome(used_bytes=100, key={"build": "1", "flags": "-Os"}),
        outcome(used_bytes=100, key={"build": "1", "flags": "-Os"}),
        outcome(used_bytes=116, key={"build": "2", "flags": "-Os"}, sha256="cd"),
    )
    (change,) = history.changes
    assert (change.kind, change.number, change.key) == ("grew", 2, ("model file", "build"))
    assert history.regressions == 1
    assert history.levels == ((0, 100), (2, 116))


@pytest.mark.parametrize(
    ("before", "after", "kind", "regressions"),
    [
        (outcome(used_bytes=100), outcome(used_bytes=99), "shrank", 0),
        (outcome(), outcome(verdict="fail"), "worse", 1),
        (outcome(), outcome(verdict="under", used_bytes=1200), "worse", 1),
        (outcome(verdict="fail"), outcome(), "better", 0),
        (outcome(verdict="over"), outcome(), "better", 0),
    ],
)
def test_kinds_of_change(before, after, kind, regressions):
    history = only(before, after)
    assert [change.kind for change in history.changes] == [kind]
    assert history.regressions == regressions


def test_after_a_failure_the_last_measurement_counts():
    history = only(outcome(used_bytes=100), outcome(verdict="fail"), outcome(used_bytes=110))
    assert [change.kind for change in history.changes] == ["worse", "grew"]
    assert history.changes[1].before.used_bytes == 100


def test_trouble_on_the_bench_is_no_history():
    assert histories([outcome(), outcome(verdict="error"), outcome(verdict="not_run")]) == []


def test_models_boards_and_tflm_are_kept_apart():
    kinds = [{"model": "n"}, {"board": "c"}, {"tflm": "2026-08"}, {}]
    assert len(histories([outcome(**kind) for kind in kinds * 2])) == 4


def test_the_latest_regression_comes_first():
    steady = [outcome("steady", when=night(1)), outcome("steady", when=night(9))]
    old = [outcome("old", used_bytes=n, when=night(n)) for n in (1, 2)]
    new = [outcome("new", used_bytes=n, when=night(n)) for n in (3, 4)]
    shrunk = [outcome("shrunk", used_bytes=9 - n, when=night(n)) for n in (7, 8)]
    assert [history.model for history in histories(steady + old + new + shrunk)] == ["new", "old", "shrunk", "steady"]
