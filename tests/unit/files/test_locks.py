"""Locks between real processes."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from harness.errors import ProbeError, SerialPortError, StorageError
from harness.files import locks
from harness.files.folders import machine_folder

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


def lock_file(folder: Path, name: str = "probe-1") -> Path:
    return folder / f"harness-{name}.lock"


def test_lock_of_a_killed_process_is_taken_over(holder: subprocess.Popen[str], tmp_path: Path) -> None:
    holder.kill()
    holder.wait()
    assert lock_file(tmp_path).read_text()  # its words are stale, and nobody believes them
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
            assert lock_file(tmp_path, "%2Fdev%2FttyACM0").exists()
    assert not lock_file(tmp_path, "%2Fdev%2FttyACM0").exists()


def test_other_resources_stay_free(tmp_path: Path) -> None:
    with locks.hold("probe-1", ProbeError, tmp_path), locks.hold("probe-2", ProbeError, tmp_path):
        pass


def test_a_long_name_has_its_own_lock(tmp_path: Path) -> None:
    with locks.hold("x" * 400 + "1", ProbeError, tmp_path), locks.hold("x" * 400 + "2", ProbeError, tmp_path):
        pass


@pytest.mark.parametrize("words", ["{", "", "[]", '{"program": 1}', "\x1b[2J"])
def test_holder_is_unknown_while_its_words_are_unreadable(
    words: str, holder: subprocess.Popen[str], tmp_path: Path
) -> None:
    lock_file(tmp_path).write_text(words)
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


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    lock_file(tmp_path).symlink_to(victim)
    with pytest.raises(StorageError, match="is a link"), locks.hold("probe-1", ProbeError, tmp_path):
        pass
    lock_file(tmp_path).unlink()
    lock_file(tmp_path).hardlink_to(victim)
    with pytest.raises(StorageError, match="no lock file"), locks.hold("probe-1", ProbeError, tmp_path):
        pass
    assert victim.read_text() == "precious"


def test_a_link_to_nothing_makes_nothing(tmp_path: Path) -> None:
    lock_file(tmp_path).symlink_to(tmp_path / "nothing")
    with pytest.raises(StorageError, match="is a link"), locks.hold("probe-1", ProbeError, tmp_path):
        pass
    assert not (tmp_path / "nothing").exists()


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(lock_file(tmp_path))
    with pytest.raises(StorageError, match="no lock file"), locks.hold("probe-1", ProbeError, tmp_path):
        pass


def test_a_lock_is_taken_once_whoever_removes_its_file(tmp_path: Path) -> None:
    """Many processes take and give back one lock, which removes its file each time: never do two hold it."""
    script = """
import sys
from pathlib import Path
from harness.files import locks
from harness.errors import ProbeError
folder, taken = Path(sys.argv[1]), 0
while taken < 100:
    try:
        with locks.hold("probe-1", ProbeError, folder):
            marker = folder / "held"
            marker.touch(exist_ok=False)  # fails when somebody else holds it
            marker.unlink()
            taken += 1
    except ProbeError:
        pass
"""
    children = [subprocess.Popen([sys.executable, "-c", script, str(tmp_path)]) for _ in range(4)]
    assert [child.wait() for child in children] == [0] * 4
    assert list(tmp_path.iterdir()) == []


AS_ANOTHER_USER = """
import fcntl, json, os, pwd, sys
from pathlib import Path
from harness.files import lock_file, locks
from harness.errors import ProbeError, StorageError
os.setresgid(65534, 65534, 65534)
os.setresuid(65534, 65534, 65534)
os.umask(0o077)
try:
    with locks.hold("probe-1", ProbeError, Path(sys.argv[1])):
        print("held", flush=True)
        sys.stdin.readline()
except (ProbeError, StorageError) as error:
    print(str(error).replace(chr(10), " "), flush=True)
"""


@pytest.fixture
def shared():
    """A folder as /tmp is, that others can reach."""
    if os.geteuid() != 0:
        pytest.skip("only root can become another user")
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        Path(name).chmod(0o1777)
        yield Path(name)


def another_user(folder: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", AS_ANOTHER_USER, str(folder)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def said(child: subprocess.Popen[str]) -> str:
    assert child.stdout is not None
    return child.stdout.readline().strip()


def end(child: subprocess.Popen[str]) -> None:
    child.communicate("\n")


def test_another_user_s_lock_counts_and_names_them(shared: Path) -> None:
    other = another_user(shared)
    assert said(other) == "held"
    with pytest.raises(ProbeError) as refusal, locks.hold("probe-1", ProbeError, shared):
        pass
    assert f"(process {other.pid}) since" in str(refusal.value)
    end(other)
    with locks.hold("probe-1", ProbeError, shared):
        late = another_user(shared)
        assert f"in use found held by {Path(sys.argv[0]).name}" in said(late)
        end(late)


def test_a_file_that_another_user_left_behind_is_taken_over(shared: Path) -> None:
    other = another_user(shared)
    assert said(other) == "held"
    other.kill()
    other.communicate()
    with locks.hold("probe-1", ProbeError, shared):
        pass


def test_a_file_that_its_owner_keeps_to_himself_is_told(shared: Path) -> None:
    lock_file(shared).touch(mode=0o600)
    other = another_user(shared)
    assert "cannot make the lock: Permission denied" in said(other)
    end(other)


def test_all_users_share_one_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("HARNESS_LOCK_FOLDER")
    before = machine_folder()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    assert machine_folder() == before
