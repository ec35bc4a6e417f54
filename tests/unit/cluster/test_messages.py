import json
from dataclasses import replace
from pathlib import Path

import pytest

from harness.cluster import messages
from harness.domain.attempt import Circumstances, Job
from harness.domain.recipe import Recipe
from harness.domain.reconciliation import RowSubject
from harness.errors import FlashError, ResultError
from harness.results.reconcile import reconcile, without_measurement
from harness.session import RunOptions
from harness.sweep.dut_runner import Outcome
from tests.support.figures import ESTIMATE, MEASUREMENT

JOB = Job(3, "m.tflite", "/models/m.tflite", "ab", "b", "crate", 4096, min_arena=True)


def test_offers_come_back_as_they_were():
    duts = [
        messages.OfferedDut("left", "b", "probe", "/dev/ttyUSB0", ("uhubctl", "-a", "cycle")),
        messages.OfferedDut("right", "b", None, None, ()),
    ]
    assert messages.offer_from_text(messages.offer_to_text("1.2", duts), "worker") == ("1.2", duts)


def test_tasks_come_back_without_what_means_nothing_elsewhere():
    options = RunOptions(
        probe="mine",
        recipe=Recipe(inputs=(b"\x00\xff", b""), invokes=4),
        force_flash=True,
        threshold_percent=5.5,
        margin_percent=10,
        corrections=Path("/here"),
        operators=frozenset({"ADD", "Mine"}),
    )
    task = messages.Task("left", JOB, options, {"p.toml": "x = 1\n"})
    expected = replace(task, options=replace(options, probe=None, corrections=None))
    assert messages.task_from_text(messages.task_to_text(task)) == expected


def test_revivals_come_back():
    revival = messages.Revival("left", ("off-and-on", "{dut}"), 12.5)
    assert messages.revival_from_text(messages.revival_to_text(revival)) == revival


@pytest.mark.parametrize(
    "result",
    [
        reconcile(ESTIMATE, MEASUREMENT),
        without_measurement(
            RowSubject("m", "ab", "b", ""), ESTIMATE, FlashError("no", where="here", hint="plug it in")
        ),
    ],
)
def test_outcomes_come_back_whole(result):
    outcome = Outcome(result, Circumstances(tflm="2020-07", flags="-Os", build_id="id1"), b"\x00 noise \xff")
    text = messages.outcome_to_text(outcome)
    assert messages.outcome_from_text(text, outcome.log, "left") == outcome
    assert isinstance(json.loads(text), dict)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"result": 1}', "null", "{" * 5000])
def test_anything_else_is_refused(text):
    with pytest.raises(ResultError):
        messages.outcome_from_text(text, b"", "left")


def test_corrections_are_read_as_text(tmp_path):
    (tmp_path / "p.toml").write_text("x = 1\n")
    (tmp_path / "notes.md").write_text("no correction")
    assert messages.read_corrections(tmp_path) == {"p.toml": "x = 1\n"}
    assert messages.read_corrections(None) == {}
    (tmp_path / "q.toml").write_bytes(b"\xff")
    with pytest.raises(ResultError, match="cannot be read"):
        messages.read_corrections(tmp_path)
