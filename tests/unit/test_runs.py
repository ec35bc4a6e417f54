"""Many models on one unit, with sessions that need none."""

from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from harness.bench.boards import load_board
from harness.device.serial_log import SerialLog
from harness.domain.run_options import RunOptions
from harness.errors import DoesNotLinkError, UsageError
from harness.results.reconcile import reconcile
from harness.runs import run_models
from tests.support.figures import ESTIMATE, MEASUREMENT
from tests.support.models import chain

BOARD = load_board("stm32f407-virtual")
TOGETHER = RunOptions(shared_arena=True)


class FakeSession:
    """Measures without a unit."""

    image: Any = None

    def __init__(self):
        self.shared = []
        self.serial_log = SerialLog()

    def await_answer(self):
        pass

    def run(self, model, options=None):
        return reconcile(ESTIMATE, replace(MEASUREMENT, model=model.name))

    def run_shared(self, models):
        self.shared.append([model.name for model in models])
        return reconcile(ESTIMATE, replace(MEASUREMENT, model="(shared)"))


@pytest.fixture
def session():
    return FakeSession()


@pytest.fixture
def paths(tmp_path):
    found = [tmp_path / name for name in ("a.tflite", "b.tflite", "bad.tflite")]
    for path in found[:2]:
        path.write_bytes(chain("RELU").build())
    found[2].write_bytes(b"no model")
    return found


def silent(what, done, total):
    pass


def run(paths, session, options=TOGETHER):
    @contextmanager
    def opened(board, options, progress):
        yield session

    return list(run_models(BOARD, paths, options, silent, opened))


def test_a_bad_model_does_not_stop_the_others(session, paths):
    rows = run([paths[2], *paths[:2]], session, RunOptions())
    assert [(row.model, row.verdict) for row in rows] == [
        ("bad.tflite", "not_run"),
        ("a.tflite", "ok"),
        ("b.tflite", "ok"),
    ]
    assert session.shared == []


def test_the_shared_arena_comes_last_beside_each_model_alone(session, paths):
    rows = run(paths[:2], session)
    assert [row.model for row in rows] == ["a.tflite", "b.tflite", "(shared)"]
    assert session.shared == [["a.tflite", "b.tflite"]]
    assert "a.tflite alone uses 1,000 bytes" in rows[-1].causes


def test_a_bad_model_leaves_nothing_to_share(session, paths):
    rows = run(paths, session)
    assert [(row.model, row.verdict) for row in rows[2:]] == [("bad.tflite", "not_run"), ("(shared)", "not_run")]
    assert session.shared == []
    assert "no TensorFlow Lite model" in rows[-1].causes[0]


def test_firmware_that_does_not_link_is_said_of_all(paths):
    @contextmanager
    def fails(board, options, progress):
        raise DoesNotLinkError("too large")
        yield

    rows = run_models(BOARD, paths[:2], TOGETHER, silent, fails)
    assert [row.verdict for row in rows] == ["does_not_link"] * 3


def test_one_model_has_nothing_to_share_with(session, paths):
    with pytest.raises(UsageError, match="two models or more"):
        run(paths[:1], session)
