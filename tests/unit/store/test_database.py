import os
import signal
import sqlite3
import subprocess
import sys
import time

import pytest

from harness.domain.attempt import Circumstances
from harness.domain.reconciliation import RowSubject
from harness.errors import ProbeError, ResultError, StorageError
from harness.results.reconcile import without_measurement
from harness.store import open_store
from tests.support.attempts import BOARD, KEY, SHA, job, result


def probe_gone():
    return without_measurement(RowSubject("kws.tflite", SHA, BOARD, "2020-07"), None, ProbeError("the probe is gone"))


def test_an_attempt_comes_back_with_its_whole_key(store):
    sweep = store.begin_sweep([job(arena_size_bytes=4096)], {"retries": 1})
    attempt = store.begin_attempt(sweep, job(arena_size_bytes=4096), "desk-1")
    store.end_attempt(attempt, result(used=990), KEY, b"#H1 hello\n")
    (found,) = store.attempts(sweep)
    assert found.circumstances == KEY
    assert (found.state, found.verdict, found.dut, found.number) == ("done", "ok", "desk-1", 1)
    assert (found.used_bytes, found.estimate_bytes, found.error_bytes) == (990, 1000, 10)
    assert (found.asked_arena_bytes, found.arena_size_bytes) == (4096, 4096)
    assert found.corrections == ("fit-1",)
    assert found.started_at <= found.ended_at
    assert store.log(found) == b"#H1 hello\n"


def test_estimate_and_measurement_come_back_whole(store):
    attempt = store.begin_attempt(None, job(), "desk-1")
    store.end_attempt(attempt, result(minimum=1050), KEY)
    assert store.reconciliation(attempt) == result(minimum=1050)


def test_trouble_on_the_bench_is_a_failed_attempt(store):
    sweep = store.begin_sweep([job()], {})
    store.end_attempt(store.begin_attempt(sweep, job(), "desk-1"), probe_gone(), Circumstances())
    (standing,) = store.job_results(sweep)
    assert (standing.attempt.state, standing.attempt.error_class, standing.verdict) == ("failed", "ProbeError", "error")
    assert standing.causes == ("the probe is gone",)
    assert not standing.flaky


def test_a_verdict_after_a_failure_is_flaky(store):
    sweep = store.begin_sweep([job()], {})
    for ended in (probe_gone(), result()):
        store.end_attempt(store.begin_attempt(sweep, job(), "desk-1"), ended, KEY)
    (standing,) = store.job_results(sweep)
    assert standing.flaky
    assert (standing.verdict, standing.attempts, standing.failures, standing.attempt.number) == ("ok", 2, 1, 2)


def test_a_job_without_an_attempt_is_not_run(store):
    sweep = store.begin_sweep([job()], {})
    store.give_up_job(sweep, 1, ["no board is left"])
    (standing,) = store.job_results(sweep)
    assert (standing.verdict, standing.causes, standing.exit_code) == ("not_run", ("no board is left",), 3)


def test_resume_says_what_was_cut_off_and_forgets_what_was_given_up(store):
    sweep = store.begin_sweep([job(1), job(2)], {})
    store.begin_attempt(sweep, job(1), "desk-1")
    store.give_up_job(sweep, 2, ["the deadline has come"])
    store.end_sweep(sweep)
    store.resume_sweep(sweep)
    assert [attempt.state for attempt in store.attempts(sweep)] == ["interrupted"]
    assert [standing.not_run for standing in store.job_results(sweep)] == [(), ()]
    assert store.sweep(sweep).ended_at == ""


def test_history_is_by_name_or_hash_and_board(store):
    for used in (1000, 1010):
        store.end_attempt(store.begin_attempt(None, job(), "desk-1"), result(used), KEY)
    store.begin_attempt(None, job(), "desk-1")
    assert [attempt.used_bytes for attempt in store.history("kws.tflite")] == [1000, 1010]
    assert len(store.history(SHA, BOARD)) == 2
    assert store.history("kws.tflite", "another-board") == []
    assert store.models() == ["kws.tflite"]


def test_the_last_sweep_is_found(store):
    with pytest.raises(ResultError, match="no sweep yet"):
        store.sweep()
    store.begin_sweep([job()], {})
    second = store.begin_sweep([job(1), job(2)], {})
    assert (store.sweep().id, store.sweep().jobs) == (second, 2)
    with pytest.raises(ResultError, match="no sweep 9"):
        store.sweep(9)


def test_a_long_log_is_compressed(store):
    attempt = store.begin_attempt(None, job(), "desk-1")
    store.end_attempt(attempt, result(), KEY, b"noise " * 100_000)
    (found,) = store.history("kws.tflite")
    assert found.log.endswith(".gz")
    assert (store.logs / found.log).stat().st_size < 10_000
    assert store.log(found) == b"noise " * 100_000


def test_two_programs_write_at_once(path, store):
    with open_store(path) as other:
        ids = [each.begin_attempt(None, job(), "desk") for _ in range(20) for each in (store, other)]
    assert len(set(ids)) == 40


def test_reading_needs_a_store(tmp_path):
    with pytest.raises(ResultError, match="no results database"), open_store(tmp_path / "none.db"):
        pass


def test_a_file_that_is_no_database(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("nothing of the kind, but long enough to be looked at. " * 100)
    with pytest.raises(ResultError, match="no results database"), open_store(path):
        pass


def test_a_store_of_a_newer_harness(path, store):
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(ResultError, match="newer harness"), open_store(path):
        pass


def test_a_full_disk_is_said(store):
    # As many pages as there are now: the next transaction finds no room.
    pages = store._connection.execute("PRAGMA page_count").fetchone()[0]
    store._connection.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(StorageError, match="disk is full"):
        store.begin_sweep([job(number, model="m" * 500) for number in range(1000)], {})
    assert store.sweeps() == []
    store._connection.execute("PRAGMA max_page_count = 1000000")
    assert store.begin_attempt(None, job(), "desk")  # it goes on where it was


def test_kill_loses_nothing_that_was_written(path):
    script = (
        "import sys; from pathlib import Path; from harness.store import open_store\n"
        "from tests.support.attempts import KEY, job, result\n"
        "with open_store(Path(sys.argv[1]), create=True) as store:\n"
        "    while True:\n"
        "        attempt = store.begin_attempt(None, job(), 'desk')\n"
        "        store.end_attempt(attempt, result(), KEY, b'log')\n"
        "        print(attempt, flush=True)\n"
    )
    for pause_s in (0.05, 0.11, 0.23):
        writer = subprocess.Popen([sys.executable, "-c", script, str(path)], stdout=subprocess.PIPE, text=True)
        first = int(writer.stdout.readline())
        time.sleep(pause_s)
        os.kill(writer.pid, signal.SIGKILL)
        said = [first, *map(int, writer.stdout.read().split())]
        writer.wait()
        writer.stdout.close()
        with open_store(path) as store:
            ended = {attempt.id for attempt in store.history("kws.tflite")}
            assert set(said) <= ended
            assert len(store.attempts()) <= said[-1] + 2
