"""What a change is, for the history and for the report."""

from dataclasses import dataclass

import pytest

from harness.results.changes import KeyChange, grown_bytes, key_changes, kind_of_change, with_reference


@dataclass(frozen=True)
class Seen:
    verdict: str = "ok"
    used_bytes: int | None = None


def test_an_attempt_is_compared_with_the_last_one_that_was_measured():
    attempts = [Seen(used_bytes=10), Seen("fail"), Seen("error"), Seen(used_bytes=12)]
    assert [reference for reference, _ in with_reference(attempts)] == [None, attempts[0], attempts[0], attempts[0]]


@pytest.mark.parametrize(
    ("before", "reference", "attempt", "kind"),
    [
        (Seen(used_bytes=10), Seen(used_bytes=10), Seen("fail"), "worse"),
        (Seen(used_bytes=10), Seen(used_bytes=10), Seen(used_bytes=12), "grew"),
        (Seen("fail"), Seen(used_bytes=10), Seen(used_bytes=8), "shrank"),
        (Seen("fail"), Seen(used_bytes=10), Seen(used_bytes=10), "better"),
        (Seen("fail"), None, Seen(used_bytes=10), "better"),
        (Seen(used_bytes=10), Seen(used_bytes=10), Seen(used_bytes=10), ""),
        (Seen("over", 10), Seen("over", 10), Seen("over", 10), ""),
    ],
)
def test_kinds_of_change(before, reference, attempt, kind):
    assert kind_of_change(before, reference, attempt) == kind


def test_what_was_not_measured_has_not_grown():
    assert grown_bytes(None, Seen(used_bytes=1)) is None
    assert grown_bytes(Seen(used_bytes=1), Seen()) is None
    assert grown_bytes(Seen(used_bytes=1), Seen(used_bytes=3)) == 2


def test_changes_of_a_key():
    changes = key_changes({"TFLM": "old", "flags": "-Os"}, {"TFLM": "new", "flags": "-Os", "kernels": "cmsis-nn"})
    assert changes == (KeyChange("TFLM", "old", "new"), KeyChange("kernels", "", "cmsis-nn"))
    assert [change.is_known for change in changes] == [True, False]
    assert str(changes[0]) == "TFLM: old → new"
