"""What the sweep does when units or people leave in the middle of a job: a crew that is told what to report."""

import time

import pytest

from harness.bench.file import BenchDut
from harness.domain.attempt import Circumstances
from harness.domain.reconciliation import RowSubject
from harness.errors import InterruptedRunError, ProbeError
from harness.results.reconcile import without_measurement
from harness.sweep.crew import Ended, Lost
from harness.sweep.dut_runner import Outcome
from harness.sweep.policy import Policy
from harness.sweep.runner import run_sweep
from tests.support.attempts import result
from tests.support.fake_session import BOARD, jobs_for
from tests.support.sweeps import Watcher


class ToldCrew:
    """Units `a` and `b`; `script` gets the jobs in hand by unit, and returns a report or raises."""

    def __init__(self, script):
        self.duts = [BenchDut(name, BOARD, probe=name) for name in "ab"]
        self.in_hand = {}
        self._script = iter(script)

    def begin(self, dut, job):
        self.in_hand[dut] = job

    def revive(self, dut, hook, timeout_s):
        raise NotImplementedError

    def close(self):
        pass

    def report(self, timeout_s):
        step = next(self._script, None)
        report = step(self) if step else self.end(next(iter(self.in_hand)))
        if isinstance(report, Lost):
            self.in_hand.pop(report.dut, None)
        return report

    def end(self, dut):
        job = self.in_hand.pop(dut)
        return Ended(dut, Outcome(result(model=job.model, sha256=job.sha256), Circumstances()))


def interrupt(_):
    raise KeyboardInterrupt


@pytest.fixture
def run(store, models):
    def start(script, policy=None):
        number = store.begin_sweep(jobs_for(models), {})
        watcher = Watcher()
        run_sweep(store, number, ToldCrew(script), policy or Policy(), watcher)
        return watcher

    return start


def states(store):
    return [attempt.state for attempt in store.attempts()]


def test_the_job_of_a_unit_that_went_away_is_done_by_its_peer(store, run):
    watcher = run([lambda _: Lost("a", "the machine of a went away")])
    assert states(store).count("interrupted") == 1
    assert [each.verdict for each in store.job_results(1)] == ["ok"] * 6
    assert {attempt.dut for attempt in store.attempts() if attempt.state == "done"} == {"b"}
    assert watcher.notes == ["the machine of a went away"]
    assert not any(each.flaky for each in store.job_results(1))


def test_when_all_units_went_away_the_rest_is_not_run(store, run):
    run([lambda _: Lost("a", "a went away"), lambda _: Lost("b", "b went away")])
    assert {each.verdict for each in store.job_results(1)} == {"not_run"}
    assert store.job_results(1)[0].causes == ("a went away; b went away",)
    assert store.sweep().ended_at


def test_ctrl_c_ends_what_is_in_hand(store, run):
    with pytest.raises(InterruptedRunError) as raised:
        run([interrupt])
    assert states(store) == ["done", "done"]
    assert raised.value.measured == "4 jobs left"
    assert "--resume 1" in raised.value.hint
    assert store.sweep().ended_at == ""


def test_a_second_ctrl_c_leaves_it(store, run):
    with pytest.raises(InterruptedRunError):
        run([interrupt, interrupt])
    assert states(store) == ["interrupted", "interrupted"]


def test_trouble_after_the_deadline_is_not_tried_again(store, run):
    def fail_late(crew):
        time.sleep(0.05)
        job = crew.in_hand.pop("a")
        row = without_measurement(RowSubject(job.model, job.sha256, BOARD.id, ""), None, ProbeError("gone"))
        return Ended("a", Outcome(row, Circumstances()))

    run([fail_late], Policy(deadline_s=0.01))
    first, second, *others = store.job_results(1)
    assert (first.verdict, first.causes) == ("error", ("gone", "the sweep's deadline came first"))
    assert second.verdict == "ok"
    assert {each.verdict for each in others} == {"not_run"}


def test_a_mistake_leaves_no_attempt_running(store, run):
    with pytest.raises(ZeroDivisionError):
        run([lambda _: 1 / 0])
    assert states(store) == ["interrupted", "interrupted"]
