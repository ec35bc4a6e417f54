"""The real pyOCD process, asked, stopped and killed."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.errors import DeadlineError, ProbeError
from harness.flashers.messages import Message
from harness.flashers.process import Process
from harness.flashers.pyocd.client import PROGRAM


@pytest.fixture
def process() -> Iterator[Process]:
    started = Process(PROGRAM, silence_s=30)
    yield started
    started.kill()


def child_of(process: Process) -> int:
    return process._child.pid


def test_answers_and_reports_errors(process: Process) -> None:
    reply = process.call(Message({"call": "probes"}), "looking for probes", "any probe")
    assert isinstance(reply.fields["probes"], list)
    with pytest.raises(ProbeError, match="no chip is connected"):
        process.call(Message({"call": "read", "address": 0, "size_bytes": 4}), "reading", "probe X")
    request = Message({"call": "connect", "probe_id": "virtual-none", "target": "stm32f407xg", "connect_mode": "halt"})
    with pytest.raises(ProbeError, match="no such probe") as refusal:
        process.call(request, "connecting", "probe virtual-none")
    assert refusal.value.where == "probe virtual-none"
    assert process.alive


def test_hanging_process_is_killed_and_named() -> None:
    process = Process(PROGRAM, silence_s=0.5)
    process.call(Message({"call": "disconnect"}), "disconnecting", "probe X")
    os.kill(child_of(process), signal.SIGSTOP)
    with pytest.raises(DeadlineError, match="hung while reading") as late:
        process.call(Message({"call": "probes"}, bytes(1 << 20)), "reading", "probe X")
    assert late.value.where == "probe X"
    assert not process.alive


def test_process_that_dies_is_reported(process: Process) -> None:
    os.kill(child_of(process), signal.SIGKILL)
    with pytest.raises(ProbeError, match="ended while reading") as gone:
        process.call(Message({"call": "probes"}), "reading", "probe X")
    assert gone.value.measured == "exit status -9"
    assert not process.alive


def test_request_that_it_does_not_know_ends_it_with_its_last_words(process: Process) -> None:
    with pytest.raises(ProbeError, match="ended") as gone:
        process.call(Message({"call": "nonsense"}), "testing", "probe X")
    assert gone.value.measured == "KeyError: 'nonsense'"


def test_interrupted_call_leaves_no_process(process: Process) -> None:
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    os.kill(child_of(process), signal.SIGSTOP)
    with pytest.raises(KeyboardInterrupt):
        process.call(Message({"call": "probes"}), "looking", "any probe")
    assert not process.alive


def test_ends_with_its_parent(tmp_path: Path) -> None:
    script = """
import os, signal
from harness.flashers.process import Process
from harness.flashers.pyocd.client import PROGRAM
process = Process(PROGRAM, silence_s=30)
print(process._child.pid, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    child = int(done.stdout)
    descriptor = _pidfd(child)
    if descriptor is not None:
        assert select.select([descriptor], [], [], 30)[0], "it lives on"
        os.close(descriptor)


def _pidfd(pid: int) -> int | None:
    try:
        return os.pidfd_open(pid)
    except ProcessLookupError:
        return None  # it has ended already


def test_flasher_is_light() -> None:
    """Neither the command line nor a list of boards may pay for importing pyOCD."""
    script = "import sys, harness.flashers.pyocd; sys.exit('pyocd' in sys.modules or 'unicorn' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0
