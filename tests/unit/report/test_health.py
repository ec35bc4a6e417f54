from harness.report.health import RECENT, unit_health
from tests.support.outcomes import night, outcome


def test_the_sickest_unit_comes_first():
    good = [outcome(dut="good") for _ in range(4)]
    sick = [outcome(dut="sick"), outcome(dut="sick", verdict="error")]
    units = unit_health(good + sick)
    assert [(unit.dut, unit.error_percent) for unit in units] == [("sick", 50.0), ("good", 0.0)]


def test_the_latest_trouble_is_told_with_its_time():
    (unit,) = unit_health(
        [
            outcome(verdict="error", causes=("no probe",), when=night(1)),
            outcome(verdict="error", causes=("no answer", "hint: cable"), when=night(2)),
            outcome(when=night(3), flaky=True),
        ]
    )
    assert (unit.trouble, unit.trouble_seen, unit.last_seen) == ("no answer", night(2), night(3))
    assert (unit.flaky, unit.counts["error"], unit.attempts) == (1, 2, 3)


def test_only_the_latest_attempts_are_shown_one_by_one():
    (unit,) = unit_health([outcome(verdict="error")] + [outcome()] * RECENT)
    assert unit.recent == ("ok",) * RECENT


def test_what_never_reached_a_unit_is_no_units_fault():
    assert unit_health([outcome(dut="", verdict="not_run")]) == []


def test_units_of_the_same_name_on_two_boards_are_two():
    assert len(unit_health([outcome(board="a"), outcome(board="b")])) == 2
