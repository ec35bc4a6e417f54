"""What several modules of unit tests start from."""

import shutil

import pytest

import harness.build.inputs
from harness.files.cache import Cache
from tests.support.small_firmware import write_firmware


@pytest.fixture
def firmware(tmp_path, monkeypatch):
    """A folder like `firmware/`, which `build` takes for the real one."""
    if shutil.which("arm-none-eabi-g++") is None:
        pytest.skip("needs the compiler arm-none-eabi-g++")
    folder = tmp_path / "firmware"
    write_firmware(folder)
    monkeypatch.setattr(harness.build.inputs, "firmware_dir", lambda: folder)
    return folder


@pytest.fixture
def cache(tmp_path):
    return Cache(tmp_path / "cache")
