"""The crew against a scheduler that does what real ones do only in bad moments."""

import socket
from concurrent.futures import CancelledError
from dataclasses import replace
from hashlib import sha256

import pytest

pytest.importorskip("distributed")

from harness.bench.boards import load_board
from harness.cluster import crew
from harness.cluster.messages import OfferedDut, offer_to_text, outcome_to_text
from harness.domain.attempt import Circumstances, Job
from harness.errors import BenchError
from harness.files.version import version
from harness.results.reconcile import reconcile
from harness.session import RunOptions
from harness.sweep.crew import Crashed, Ended, Lost, Revived
from harness.sweep.dut_runner import Outcome
from tests.support.figures import ESTIMATE, MEASUREMENT
from tests.support.models import chain

BOARD = load_board("stm32f407-virtual")
LEFT = OfferedDut("left", BOARD.id, None, None, ())
OUTCOME = Outcome(reconcile(ESTIMATE, MEASUREMENT), Circumstances(tflm="2020-07"), b"log")


class Future:
    """A result to come; `end` makes it come."""

    def __init__(self, ask):
        self.ask = ask
        self.cancelled = False
        self._listeners = []

    def add_done_callback(self, listener):
        self._listeners.append(listener)

    def cancel(self):
        self.cancelled = True

    def end(self, result):
        self._result = result
        for listener in self._listeners:
            listener(self)

    def result(self):
        if isinstance(self._result, BaseException):
            raise self._result
        return self._result


class Scheduler:
    """What a dask client shows of its scheduler."""

    def __init__(self, offers, said=None):
        self.workers = {address: {"name": address[-1]} for address in offers}
        self.submitted = []
        self._offers = {address: offer_to_text(said or version(), duts) for address, duts in offers.items()}
        self.scheduler = type("Address", (), {"address": "tcp://lab:8786"})

    def scheduler_info(self):
        if self.workers is None:
            raise OSError("closed")
        return {"workers": self.workers}

    def run(self, _function):
        return self._offers

    def submit(self, _function, *data, **where):
        self.submitted.append(Future((data, where)))
        return self.submitted[-1]


@pytest.fixture
def scheduler():
    return Scheduler({"tcp://a": [LEFT], "tcp://b": [LEFT]})


@pytest.fixture
def two(scheduler):
    return crew.ClusterCrew(scheduler, crew.offered_duts(scheduler, [BOARD]), RunOptions())


@pytest.fixture
def job(tmp_path):
    path = tmp_path / "m.tflite"
    path.write_bytes(chain("TANH").build())
    return Job(1, path.name, str(path), sha256(path.read_bytes()).hexdigest(), BOARD.id, "crate")


def test_units_of_the_same_name_are_told_apart_by_their_workers(two):
    assert [dut.name for dut in two.duts] == ["a/left", "b/left"]


def test_units_of_other_boards_are_left_alone():
    other = OfferedDut("right", "another-board", None, None, ())
    remote = crew.offered_duts(Scheduler({"tcp://a": [LEFT, other]}), [BOARD])
    assert [each.dut.name for each in remote] == ["a/left"]


def test_without_a_fitting_unit_there_is_no_crew():
    with pytest.raises(BenchError, match="no worker offers a unit"):
        crew.offered_duts(Scheduler({"tcp://a": []}), [BOARD])


def test_another_version_of_harness_is_refused():
    with pytest.raises(BenchError, match="another version") as caught:
        crew.offered_duts(Scheduler({"tcp://a": [LEFT]}, said="2026.12.0+g0000000"), [BOARD])
    assert f"found 2026.12.0+g0000000, expected {version()}\nhint: " in str(caught.value)


def test_a_job_goes_to_the_worker_of_its_unit_and_its_outcome_comes_back(two, scheduler, job):
    two.begin("b/left", job)
    (future,) = scheduler.submitted
    data, where = future.ask
    assert where["workers"] == ["tcp://b"]
    assert where["resources"] == {"dut left": 1}
    assert (type(data[0]), type(data[1])) == (str, bytes)
    assert two.report(0) is None
    future.end((outcome_to_text(OUTCOME), b"log"))
    assert two.report(1) == Ended("b/left", OUTCOME)


def test_a_model_that_changed_is_not_sent(two, scheduler, job):
    two.begin("a/left", replace(job, sha256="cd" * 32))
    report = two.report(1)
    assert isinstance(report, Ended)
    assert report.outcome.result.verdict == "not_run"
    assert scheduler.submitted == []


def test_a_lost_workers_job_is_called_off_and_told_once(two, scheduler, job):
    two.begin("a/left", job)
    del scheduler.workers["tcp://a"]
    assert two.report(1) == Lost("a/left", "a/left was lost: its worker is gone")
    assert scheduler.submitted[0].cancelled
    scheduler.submitted[0].end((outcome_to_text(OUTCOME), b""))
    assert two.report(0) is None


def test_a_job_that_dask_calls_off_is_lost(two, scheduler, job):
    two.begin("a/left", job)
    scheduler.workers = None
    scheduler.submitted[0].end(CancelledError())
    assert two.report(1) == Lost("a/left", "a/left was lost: the scheduler is gone")


def test_a_mistake_on_a_worker_ends_the_sweep_with_its_name(two, scheduler, job):
    two.begin("a/left", job)
    scheduler.submitted[0].end(KeyError("dut"))
    report = two.report(1)
    assert isinstance(report, Crashed)
    assert str(report.error) == "a/left: the worker made a mistake: KeyError: 'dut'"


def test_power_is_switched_where_the_unit_is(two, scheduler):
    two.revive("a/left", ("cycle", "{dut}"), 5.0)
    scheduler.submitted[0].end("still dead")
    assert two.report(1) == Revived("a/left", "still dead")


def test_what_is_not_ended_is_called_off_at_the_end(two, scheduler, job):
    two.begin("a/left", job)
    two.close()
    assert scheduler.submitted[0].cancelled


@pytest.mark.parametrize("address", ["127.0.0.1:{port}", "no/address", "ftp://127.0.0.1:{port}"])
def test_without_a_scheduler_the_user_learns_how_to_start_one(monkeypatch, address):
    monkeypatch.setattr(crew, "_CONNECT_S", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    with (
        pytest.raises(BenchError, match="cannot be reached") as caught,
        crew.cluster_crew(address.format(port=port), [BOARD], RunOptions()),
    ):
        pass
    assert "dask scheduler" in caught.value.hint
