"""Systems without fcntl, termios, pty, resource and pwd: what needs no virtual board works, the rest says so."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from harness.domain.attempt import Circumstances, Job
from harness.results.as_json import reconciliation_to_json
from harness.results.reconcile import reconcile
from harness.store import open_store
from tests.support.models import chain
from tests.support.tuning import estimate, measurement

BLOCKED = ("fcntl", "termios", "pty", "resource", "pwd", "grp", "tty")

_BLOCK = f"""
import sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name in {BLOCKED!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

for name in {BLOCKED!r}:
    sys.modules.pop(name, None)
sys.meta_path.insert(0, Blocked())
"""


OF_OTHER_PROCESSES = (
    *(f"harness.flashers.pyocd.{name}" for name in ("chip", "faults", "target", "worker")),
    *(f"harness.flashers.esptool.{name}" for name in ("chip", "faults", "port", "worker")),
    "harness.estimate.host.oracle",
)
"""Modules of the processes in which pyOCD, esptool and the wheel run, which are loaded nowhere else."""


def python(code: str, *arguments: object, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "error", "-W", "ignore:only soft file lock", "-c", _BLOCK + code, *map(str, arguments)],
        cwd=folder,
        env={**os.environ, "XDG_STATE_HOME": str(folder), "XDG_CACHE_HOME": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )


def harness(*arguments: object, folder: Path) -> subprocess.CompletedProcess[str]:
    return python("from harness.__main__ import main; main()", *arguments, folder=folder)


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A folder with a model, results of runs, and a store with a sweep."""
    (tmp_path / "m.tflite").write_bytes(chain("TANH", "RELU").build())
    rows = [reconcile(estimate(number), measurement(estimate(number), tail=-48)) for number in range(5)]
    (tmp_path / "run.json").write_text(json.dumps([reconciliation_to_json(row) for row in rows]))
    return tmp_path


@pytest.mark.parametrize(
    "arguments",
    [
        ("--help",),
        *((command, "--help") for command in ("run", "sweep", "check", "tune", "report", "virtual", "doctor", "bench")),
        ("estimate", "m.tflite"),
        ("estimate", "m.tflite", "--format", "c-header"),
        ("plan", "m.tflite"),
        ("boards",),
        ("reconcile", "run.json"),
        ("tune", "run.json", "--output", "corrections"),
        ("report", "run.json", "--format", "markdown"),
    ],
    ids=" ".join,
)
def test_what_needs_no_board_works(arguments: tuple[str, ...], files: Path) -> None:
    ended = harness(*arguments, folder=files)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout


def test_a_sweep_s_results_are_checked_and_reported(files: Path) -> None:
    found = reconcile(estimate(1), measurement(estimate(1)))
    job = Job(1, "model 1.tflite", "m.tflite", found.sha256, "bench-board", "tflite-micro")
    with open_store(files / "results" / "harness.db", create=True) as store:
        sweep = store.begin_sweep([job], {})
        store.end_attempt(store.begin_attempt(sweep, job, "left"), found, Circumstances(tflm="2026-08"))
    report, history = ("report", "--format", "markdown"), ("history", "model 1.tflite")
    for arguments in (("check", "--update-baseline"), ("check",), report, history):
        ended = harness(*arguments, folder=files)
        assert ended.returncode == 0, ended.stderr


def test_the_way_to_real_hardware_can_be_imported(tmp_path: Path) -> None:
    code = (
        f"OF_OTHER_PROCESSES = {OF_OTHER_PROCESSES!r}"
        + """
import importlib, pkgutil, harness
for package in ("bench", "build", "cli", "device", "domain", "estimate", "families", "files", "flashers", "measure",
                "packagers", "report", "results", "store", "sweep", "tflm", "toolchains", "transports"):
    module = importlib.import_module(f"harness.{package}")
    for found in pkgutil.walk_packages(module.__path__, module.__name__ + "."):
        if not found.name.startswith(OF_OTHER_PROCESSES):
            importlib.import_module(found.name)
import harness.session, harness.runs
"""
    )
    ended = python(code, folder=tmp_path)
    assert ended.returncode == 0, ended.stderr


def test_a_com_port_is_opened_by_its_name(tmp_path: Path) -> None:
    """With a stand-in for pySerial, which has another half for such systems."""
    code = """
import os, types
opened = []

class Serial:
    def __init__(self, name, **options): opened.append((name, options["exclusive"])); self.data = b"hello"
    def reset_input_buffer(self): pass
    def read(self, size): data, self.data = self.data, b""; return data
    def close(self): pass

class Timeout(OSError): pass

sys.modules["serial"] = types.SimpleNamespace(
    serial_for_url=Serial, Serial=Serial, SerialTimeoutException=Timeout, __spec__=None
)
from harness.files import port_names
from harness.transports import serial as transport
port_names.os = types.SimpleNamespace(name="nt")
transport._CAN_WAIT_FOR_A_PORT = False
line = transport.SerialTransport().open("com3", 115200)
assert line.read(0.5) == b"hello"
assert line.read(0.01) == b""
line.close()
assert opened == [("COM3", True)], opened
"""
    ended = python(code, folder=tmp_path)
    assert ended.returncode == 0, ended.stderr


@pytest.mark.parametrize(
    "arguments",
    [("virtual", "list"), ("virtual", "start"), ("run", "m.tflite", "--board", "stm32f407-virtual")],
    ids=" ".join,
)
def test_virtual_boards_say_what_they_need(arguments: tuple[str, ...], files: Path) -> None:
    ended = harness(*arguments, folder=files)
    assert ended.returncode == 3
    assert "virtual boards need a POSIX system" in ended.stderr
    assert "Traceback" not in ended.stderr
