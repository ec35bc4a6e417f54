"""A sweep over workers on this machine, each a process of its own, as it is over machines."""

import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from contextlib import ExitStack, closing, contextmanager

import pytest

from tests.support.boards import BOARD

pytest.importorskip("distributed")

WAIT_S = 120


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


@contextmanager
def running(command, log, env=None):
    """A process of a session of its own, whose leftovers end with it."""
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, stdout=output, stderr=output, env={**os.environ, **(env or {})}, start_new_session=True
        )
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def wait_until(true, what, process=None):
    end = time.monotonic() + WAIT_S
    while not true():
        assert process is None or process.poll() is None, f"it ended before {what}"
        assert time.monotonic() < end, f"no {what}"
        time.sleep(0.02)


class Lab:
    """A scheduler, and workers that come and go."""

    def __init__(self, folder, stack, scheme="tcp", env=None):
        self.folder = folder
        self.address = f"{scheme}://127.0.0.1:{free_port()}"
        self.store = folder / "results.db"
        self.env = env
        self._stack = stack
        (folder / "bench.toml").write_text(f'[[dut]]\nname = "left"\nboard = "{BOARD}"\n')
        port, host = self.address.rpartition(":")[2], f"{scheme}://127.0.0.1"
        self._log = folder / "scheduler.log"
        command = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--host", host, "--port", port]
        self.scheduler = stack.enter_context(running([*command, "--no-dashboard"], self._log, env))
        wait_until(lambda: "Scheduler at" in self._log.read_text(), "scheduler", self.scheduler)

    def worker(self, name):
        command = [sys.executable, "-m", "harness", "worker", self.address, "--name", name]
        log = self.folder / f"{name}.log"
        worker = self._stack.enter_context(running([*command, "--bench", self.folder / "bench.toml"], log, self.env))
        wait_until(lambda: f"name: {name}" in self._log.read_text(), f"worker {name}", worker)
        return worker

    def sweep(self, models, *options):
        command = [sys.executable, "-m", "harness", "sweep", "--cluster", self.address, "--store", self.store]
        command += ["--boards", BOARD, "--format", "json", *options, *models]
        env = {**os.environ, **(self.env or {})}
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env)

    def attempts(self):
        """(dut, state) of every attempt, in order."""
        if not self.store.exists():
            return []
        with closing(sqlite3.connect(f"file:{self.store}?mode=ro", uri=True)) as database:
            try:
                return database.execute("SELECT dut, state FROM attempt ORDER BY id").fetchall()
            except sqlite3.OperationalError:
                return []  # its tables are still being made


@pytest.fixture
def lab(tmp_path, needs_firmware):
    with ExitStack() as stack:
        yield lambda **kinds: Lab(tmp_path, stack, **kinds)


@pytest.fixture
def models(example):
    return [example(f"{name}.tflite") for name in ("hello_world", "magic_wand", "micro_speech")]


def rows_of(sweep):
    out, err = sweep.communicate(timeout=WAIT_S)
    return sweep.returncode, json.loads(out), err


def test_a_worker_killed_in_mid_sweep_leaves_no_job_undone(lab, models):
    lab = lab()
    first, _ = lab.worker("first"), lab.worker("second")
    sweep = lab.sweep(models, "--arena", "80k", "--arena", "90k", "--arena", "100k")

    def first_is_in_the_middle():
        states = [state for dut, state in lab.attempts() if dut == "first/left"]
        return "done" in states and "running" in states

    wait_until(first_is_in_the_middle, "job in the middle of the sweep", sweep)
    first.kill()
    status, rows, err = rows_of(sweep)
    assert status == 0, err
    assert [row["verdict"] for row in rows] == ["ok"] * 9
    assert all(row["error_bytes"] == 0 for row in rows)
    assert "first/left was lost: its worker is gone" in err
    attempts = lab.attempts()
    assert attempts.count(("first/left", "interrupted")) == 1
    assert [state for _, state in attempts].count("done") == 9
    assert {dut for dut, state in attempts if state == "done"} == {"first/left", "second/left"}


def test_jobs_that_no_worker_is_left_for_end_as_not_run(lab, models):
    lab = lab()
    only = lab.worker("only")
    sweep = lab.sweep(models)
    wait_until(lambda: ("only/left", "running") in lab.attempts(), "job", sweep)
    only.kill()
    status, rows, err = rows_of(sweep)
    assert status == 3, err
    assert {row["verdict"] for row in rows} == {"not_run"}
    assert all("only/left was lost: its worker is gone" in row["causes"] for row in rows)
    assert "Traceback" not in err


def test_a_worker_gives_its_units_back_when_told_to_end(lab):
    lab = lab()
    worker = lab.worker("one")
    worker.send_signal(signal.SIGTERM)
    assert worker.wait(60) == 130
    log = (lab.folder / "one.log").read_text()
    assert "error: interrupted" in log
    assert "Traceback" not in log


def test_without_workers_nothing_is_begun(lab, models):
    lab = lab()
    sweep = lab.sweep(models)
    out, err = sweep.communicate(timeout=WAIT_S)
    assert sweep.returncode == 3
    assert out == ""
    assert "no worker offers a unit of these boards" in err
    assert not lab.store.exists()


def certificate(folder):
    """A key and a certificate for 127.0.0.1 that vouches for itself."""
    key, cert = folder / "key.pem", folder / "cert.pem"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=lab"]
    try:
        subprocess.run(
            [*command, "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", cert],
            check=True,
            capture_output=True,
        )
    except FileNotFoundError:
        pytest.skip("no openssl to make a certificate with")
    return key, cert


def test_dasks_settings_for_tls_are_used(lab, models, tmp_path):
    key, cert = certificate(tmp_path)
    roles = {
        f"DASK_DISTRIBUTED__COMM__TLS__{role}__{part}": str(path)
        for role in ("SCHEDULER", "WORKER", "CLIENT")
        for part, path in (("KEY", key), ("CERT", cert))
    }
    lab = lab(scheme="tls", env={"DASK_DISTRIBUTED__COMM__TLS__CA_FILE": str(cert), **roles})
    lab.worker("safe")
    status, rows, err = rows_of(lab.sweep(models[:1]))
    assert status == 0, err
    assert [row["dut"] for row in rows] == ["safe/left"]
