"""Where harness keeps its files: the same place each time, whatever the environment says."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from harness.errors import StorageError
from harness.files import folders
from harness.files.folders import cache_folder, runtime_folder, state_folder


@pytest.fixture
def temporary(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The folder of temporary files, and nothing in /run."""
    folder = tmp_path / "tmp"
    folder.mkdir(mode=0o700)
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(folder))
    return folder


def test_a_missing_runtime_folder_is_made_and_found_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What is made with the first call must suit the second: a board that was started is listed and stopped."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "not" / "there"))
    first = runtime_folder()
    assert first.path == tmp_path / "not" / "there" / "harness"
    assert first.note == ""
    assert [runtime_folder() for _ in range(3)] == [first] * 3
    assert first.path.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("umask", [0o000, 0o002, 0o022, 0o077])
def test_the_umask_makes_no_difference(umask: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "new"))
    before = os.umask(umask)
    try:
        assert runtime_folder().path == runtime_folder().path == tmp_path / "new" / "harness"
    finally:
        os.umask(before)


@pytest.mark.parametrize("what", ["file", "unmakable", "writable for all"])
def test_one_that_cannot_be_used_is_replaced_visibly(
    what: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, temporary: Path
) -> None:
    named = tmp_path / "named"
    if what == "writable for all":
        named.mkdir()
        named.chmod(0o777)
    else:
        named.write_text("")
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(named / "sub" if what == "unmakable" else named))
    monkeypatch.setattr(folders, "_RUN_USER", tmp_path / "none")
    found = runtime_folder()
    assert found.path == temporary / f"harness-{os.geteuid()}" / "harness"
    assert found.note.startswith(str(named))
    assert f"{found.path} is used instead" in found.note
    assert runtime_folder() == found


def test_another_user_s_folder_is_not_used(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, temporary: Path) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    monkeypatch.setattr("os.geteuid", lambda: 12345)
    with pytest.raises(StorageError, match="belongs to another user"):
        runtime_folder()


def test_a_trap_among_the_temporary_files_is_not_used(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, temporary: Path
) -> None:
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    monkeypatch.setattr(folders, "_RUN_USER", tmp_path / "none")
    (temporary / f"harness-{os.geteuid()}").symlink_to(tmp_path)
    with pytest.raises(StorageError, match="is no folder"):
        runtime_folder()


@pytest.mark.parametrize("find", [cache_folder, state_folder])
def test_without_a_home_the_variable_is_named(find, monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere(*_: object, **__: object) -> Path:
        raise RuntimeError("could not determine the home directory")

    monkeypatch.setattr("platformdirs.user_cache_path", nowhere)
    monkeypatch.setattr("platformdirs.user_state_path", nowhere)
    with pytest.raises(StorageError, match="there is no home folder") as caught:
        find()
    assert "XDG_" in caught.value.hint
