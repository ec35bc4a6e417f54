"""Locks between real processes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from harness.errors import ProbeError, SerialPortError, StorageError
from harness.files import locks

HOLD_UNTIL_KILLED = """
import sys, time
from pathlib import Path
from harness.files import locks
from harness.errors import ProbeError
with locks.hold(sys.argv[1], ProbeError, Path(sys.argv[2])):
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def holder(tmp_path: Path):
    """A child process that holds the lock `probe-1`."""
    command = [sys.executable, "-c", HOLD_UNTIL_KILLED, "probe-1", str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "held\n"
        yield child
        child.kill()


def test_refusal_names_the_holder(holder: subprocess.Popen[str], tmp_path: Path) -> None:
    with pytest.raises(SerialPortError) as refusal, locks.hold("probe-1", SerialPortError, tmp_path):
        pass
    assert f"(process {holder.pid}) since" in str(refusal.value)
    assert refusal.value.where == "probe-1"


def test_lock_of_a_killed_process_is_taken_over(holder: subprocess.Popen[str], tmp_path: Path) -> None:
    holder.kill()
    holder.wait()
    assert (tmp_path / "probe-1.json").exists()  # its note is stale, and nobody believes it
    with locks.hold("probe-1", ProbeError, tmp_path):
        pass


def test_second_hold_in_the_same_process_is_refused(tmp_path: Path) -> None:
    with (
        locks.hold("probe-1", ProbeError, tmp_path),
        pytest.raises(ProbeError, match="in use"),
        locks.hold("probe-1", ProbeError, tmp_path),
    ):
        pass


def test_lock_ends_with_its_context(tmp_path: Path) -> None:
    for _ in range(2):
        with locks.hold("/dev/ttyACM0", SerialPortError, tmp_path):
            assert (tmp_path / "%2Fdev%2FttyACM0.json").exists()
    assert not (tmp_path / "%2Fdev%2FttyACM0.json").exists()


def test_other_resources_stay_free(tmp_path: Path) -> None:
    with locks.hold("probe-1", ProbeError, tmp_path), locks.hold("probe-2", ProbeError, tmp_path):
        pass


def test_holder_is_unknown_while_its_note_is_unreadable(holder: subprocess.Popen[str], tmp_path: Path) -> None:
    (tmp_path / "probe-1.json").write_text("{")
    with (
        pytest.raises(ProbeError, match="in use") as refusal,
        locks.hold("probe-1", ProbeError, tmp_path),
    ):
        pass
    assert refusal.value.measured == "held by another program"


def test_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError), locks.hold("probe-1", ProbeError, tmp_path / "file" / "locks"):
        pass
