"""Runs a command and says what it cost, its children included."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from dataclasses import dataclass
from pathlib import Path

_SAMPLE_S = 0.02
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True)
class Cost:
    """What a command cost.

    Attributes:
        wall_s: from start to end.
        cpu_s: user and system time of the command and of the children that it waited for.
        peak_bytes: the largest resident memory of the whole process tree, shared pages counted once per process.
        status: its exit status.
    """

    wall_s: float
    cpu_s: float
    peak_bytes: int
    status: int


def cost_of(command: list[str], environment: dict[str, str] | None = None) -> Cost:
    """Run `command` with its output thrown away."""
    before = os.times()
    started = time.perf_counter()
    process = subprocess.Popen(
        command,
        env={**os.environ, **(environment or {})},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    sampler = _PeakMemory(process.pid)
    sampler.start()
    status = process.wait()
    wall_s = time.perf_counter() - started
    sampler.stop()
    after = os.times()
    cpu_s = after.children_user - before.children_user + after.children_system - before.children_system
    return Cost(wall_s, cpu_s, sampler.peak_bytes, status)


class _PeakMemory(threading.Thread):
    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self.peak_bytes = 0
        self._pid = pid
        self._ended = threading.Event()

    def run(self) -> None:
        while not self._ended.wait(_SAMPLE_S):
            self.peak_bytes = max(self.peak_bytes, sum(map(_resident_bytes, _tree(self._pid))))

    def stop(self) -> None:
        self._ended.set()
        self.join()


def _tree(pid: int) -> list[int]:
    """The process and its descendants, at this moment."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            children.setdefault(_parent(entry), []).append(int(entry.name))
    found, queue = [], [pid]
    while queue:
        found.append(queue.pop())
        queue += children.get(found[-1], [])
    return found


def _parent(entry: Path) -> int:
    try:
        return int((entry / "stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0


def _resident_bytes(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE_BYTES
    except OSError:
        return 0
