from harness.report.curve import HEIGHT, WIDTH, curve
from harness.report.history import histories
from tests.support.outcomes import outcome


def drawn(*outcomes):
    (history,) = histories(outcomes)
    return curve(history)


def test_growth_goes_up_and_is_marked_where_it_happened():
    line = drawn(*(outcome(used_bytes=used) for used in (100, 100, 200, 200, 150)))
    grew, shrank = line.marks
    assert (grew.change.kind, shrank.change.kind) == ("grew", "shrank")
    assert 0 < grew.y < shrank.y < HEIGHT
    assert WIDTH / 2 == grew.x < shrank.x < WIDTH
    assert (line.low, line.high) == (100, 200)
    assert line.path.startswith("M8.0 64.0H320.0V8.0")


def test_what_never_ran_has_no_line():
    line = drawn(outcome(verdict="fail"), outcome(verdict="fail"))
    assert (line.path, line.marks, line.low) == ("", (), None)


def test_a_failure_lies_on_the_level_before_it():
    line = drawn(outcome(used_bytes=100), outcome(used_bytes=90), outcome(verdict="fail"))
    assert [mark.change.kind for mark in line.marks] == ["shrank", "worse"]
    assert line.marks[0].y == line.marks[1].y
