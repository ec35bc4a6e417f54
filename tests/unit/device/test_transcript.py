"""What is kept of a talk with a device."""

from harness.device.transcript import LOG_LIMIT_LINES, Transcript
from harness.device.wire import VERSION, Damaged, LogText, OtherVersion
from harness.domain.postmortem import DeviceFault


def test_lines_are_kept_in_order_and_damaged_ones_counted():
    transcript = Transcript()
    for event in (LogText("one"), Damaged("tw\\x00"), OtherVersion(VERSION + 1), LogText("three")):
        transcript.keep(event)
    assert transcript.log == ("one", "tw\\x00", "three")
    assert transcript.damaged_lines == 1
    assert transcript.lines_since(1) == ["tw\\x00", "three"]


def test_a_flood_is_cut_and_counted():
    transcript = Transcript()
    for number in range(LOG_LIMIT_LINES + 3):
        transcript.keep(LogText(str(number)))
    assert len(transcript.log) == LOG_LIMIT_LINES + 1
    assert transcript.log[-1] == "(3 more lines)"
    assert transcript.length == LOG_LIMIT_LINES


def test_a_new_life_forgets_what_the_one_before_ended_with():
    transcript = Transcript()
    transcript.begin_life()
    transcript.note_start(expected=True)
    transcript.unit, transcript.arena_bytes = "0102", 4096
    transcript.fault = DeviceFault("hard_fault", "invoke", "", {}, None)
    transcript.note_start(expected=False)
    assert transcript.restarted
    transcript.begin_life()
    assert (transcript.fault, transcript.arena_bytes, transcript.restarted) == (None, None, False)
    assert transcript.unit == "0102"


def test_starts_that_nobody_waited_for_are_counted():
    transcript = Transcript()
    for expected in (True, False, False):
        if expected:
            transcript.begin_life()
        transcript.note_start(expected=expected)
    assert transcript.boots == 3
    assert transcript.unexpected_boots == 2


def test_a_device_that_never_starts_has_no_unexpected_starts():
    transcript = Transcript()
    transcript.begin_life()
    assert transcript.unexpected_boots == 0
