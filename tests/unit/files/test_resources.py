import pytest

from harness.errors import StorageError
from harness.files import resources


def test_the_checkouts_own_folders_are_found():
    assert (resources.firmware_dir() / "app/main.cc").is_file()
    assert (resources.boards_dir() / "stm32f407-virtual.toml").is_file()


def test_the_folders_of_an_installed_wheel_come_first(tmp_path, monkeypatch):
    for place in ("harness/_data/boards", "boards"):
        (tmp_path / place).mkdir(parents=True)
    monkeypatch.setattr(resources, "_PACKAGE", tmp_path / "harness")
    assert resources.boards_dir() == tmp_path / "harness/_data/boards"


def test_a_broken_installation_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(resources, "_PACKAGE", tmp_path / "harness")
    with pytest.raises(StorageError, match="firmware"):
        resources.firmware_dir()
