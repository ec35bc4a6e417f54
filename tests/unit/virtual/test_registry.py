from __future__ import annotations

import subprocess
import sys

import pytest

from harness.errors import ProbeError, UsageError
from harness.virtual import registry

ANNOUNCE_AND_DIE = """
import os, sys
from harness.virtual import registry
announcement = registry.Announcement("dead")
announcement.publish(registry.Entry("dead", "stm32f407", os.getpid(), "socket", "port"))
registry.socket_path("dead").touch()
print(len(registry.running()), flush=True)
os._exit(0)
"""


@pytest.fixture(autouse=True)
def runtime_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))


def announce(name: str, private: bool = False) -> registry.Announcement:
    announcement = registry.Announcement(name)
    announcement.publish(registry.Entry(name, "stm32f407", 1, "socket", "/dev/pts/9", private))
    return announcement


def test_boards_are_found_while_they_run():
    announcement = announce("desk")
    assert [entry.name for entry in registry.running()] == ["desk"]
    assert registry.find("desk").port == "/dev/pts/9"
    announcement.withdraw()
    assert list(registry.running()) == []
    with pytest.raises(ProbeError):
        registry.find("desk")


def test_private_boards_are_found_by_id_only():
    announcement = announce("run-1", private=True)
    assert list(registry.running()) == []
    found = registry.find_by_probe_id("virtual-run-1")
    assert found is not None
    assert found.name == "run-1"
    announcement.withdraw()


def test_a_name_is_taken_once():
    announcement = announce("desk")
    with pytest.raises(ProbeError):
        registry.Announcement("desk")
    announcement.withdraw()
    announce("desk").withdraw()


def test_a_board_that_is_not_ready_is_not_listed():
    announcement = registry.Announcement("starting")
    assert list(registry.running(include_private=True)) == []
    announcement.publish(registry.Entry("starting", "stm32f407", 1, "socket", "port"))
    assert [entry.name for entry in registry.running()] == ["starting"]
    announcement.withdraw()


def test_what_a_dead_board_left_is_cleared_away():
    alive_then = subprocess.run([sys.executable, "-c", ANNOUNCE_AND_DIE], capture_output=True, check=True)
    assert alive_then.stdout == b"1\n"
    assert registry.socket_path("dead").exists()
    assert list(registry.running()) == []
    assert list(registry.folder().iterdir()) == []


@pytest.mark.parametrize("name", ["", "a/b", "..", "a b", "a:b", "x" * 41, "ü"])
def test_names_that_would_make_trouble_are_refused(name):
    with pytest.raises(UsageError):
        registry.check_name(name)


def test_only_the_user_can_look_into_the_folder():
    assert registry.folder().stat().st_mode & 0o077 == 0


def test_a_board_that_does_not_run_is_told_with_where_to_look():
    with pytest.raises(ProbeError, match="no virtual board 'gone' is running") as refusal:
        registry.find("gone")
    assert "`harness virtual list`" in refusal.value.hint
