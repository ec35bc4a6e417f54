from __future__ import annotations

import os
from pathlib import Path

import pytest

from harness.errors import ResultError, StorageError, UsageError
from harness.files.safe import read_bounded, write_atomically, write_if_changed


def test_a_file_is_written_with_the_usual_permissions(tmp_path: Path) -> None:
    ordinary = tmp_path / "ordinary"
    ordinary.write_bytes(b"")
    path = tmp_path / "new"
    write_atomically(path, b"data")
    assert path.read_bytes() == b"data"
    assert path.stat().st_mode == ordinary.stat().st_mode


def test_no_part_is_left_behind(tmp_path: Path) -> None:
    write_atomically(tmp_path / "new", b"data")
    assert [path.name for path in tmp_path.iterdir()] == ["new"]


def test_a_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "target").write_bytes(b"old")
    (tmp_path / "link").symlink_to("target")
    write_atomically(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_bytes() == b"new"


def test_what_is_no_regular_file_is_left_alone(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(StorageError, match="no regular file"):
        write_atomically(pipe, b"data")
    assert pipe.is_fifo()


def test_a_folder_that_is_missing_is_named(tmp_path: Path) -> None:
    path = tmp_path / "missing" / "new"
    with pytest.raises(StorageError, match="cannot be written") as caught:
        write_atomically(path, b"data")
    assert caught.value.where == str(path)


def test_the_same_contents_leave_the_file_untouched(tmp_path: Path) -> None:
    path = tmp_path / "header.h"
    assert write_if_changed(path, b"one")
    os.utime(path, ns=(1, 1))
    assert not write_if_changed(path, b"one")
    assert path.stat().st_mtime_ns == 1
    assert write_if_changed(path, b"two")
    assert path.stat().st_mtime_ns != 1
    assert path.read_bytes() == b"two"


def test_a_file_is_read_up_to_its_limit(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"12345")
    assert read_bounded(path, 5, ResultError) == b"12345"
    with pytest.raises(ResultError, match="too large"):
        read_bounded(path, 4, ResultError)


def test_an_endless_file_is_not_read_to_its_end() -> None:
    with pytest.raises(ResultError, match="too large"):
        read_bounded(Path("/dev/zero"), 1000, ResultError)


@pytest.mark.parametrize("name", ["missing", ".", "zero\0byte"])
def test_what_cannot_be_read_is_said_with_the_error_asked_for(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match=r"cannot be read: [A-Za-z]"):
        read_bounded(tmp_path / name, 1000, UsageError)
