"""What end-to-end tests share: the command line as a process, and the models."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from harness.errors import SourceError
from harness.tflm.crate import CrateProvider
from tests.support import esp32_bench, esp32_probe
from tests.support.places import SHARED_MODELS


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    status: int
    out: str
    err: str

    @property
    def rows(self):
        return json.loads(self.out)


@pytest.fixture(scope="session")
def needs_firmware():
    """Skips where the firmware cannot be built or run."""
    if shutil.which("arm-none-eabi-g++") is None:
        pytest.skip("no arm-none-eabi-g++: apt install gcc-arm-none-eabi")
    pytest.importorskip("unicorn")


@pytest.fixture(scope="session")
def harness(needs_firmware):
    """Runs `harness` as a user does."""

    def run(*arguments, env=None, timeout_s=280) -> Ended:
        command = [sys.executable, "-m", "harness", *map(str, arguments)]
        ended = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=timeout_s,
            env={**os.environ, **(env or {})},
            stdin=subprocess.DEVNULL,
            check=False,
        )
        return Ended(ended.returncode, ended.stdout, ended.stderr)

    return run


@pytest.fixture(scope="session")
def example():
    """A file that comes with the TFLM crate."""

    def find(name: str) -> Path:
        try:
            return CrateProvider().example(name)
        except SourceError as error:
            pytest.skip(f"the TFLM crate cannot be had: {error.what}")

    return find


@pytest.fixture(scope="session")
def shared_models():
    """Public models that lie beside the checkout."""
    models = sorted(SHARED_MODELS.glob("*.tflite"))
    if not models:
        pytest.skip("no ../shared/models beside the checkout")
    return models


@pytest.fixture(scope="session")
def esp32_images(tmp_path_factory):
    """Builds the bare program for the ESP32, once for each set of symbols."""
    esp32_probe.require_emulator()
    built: dict[tuple[str, ...], bytes] = {}

    def image(*defines: str) -> bytes:
        if defines not in built:
            built[defines] = esp32_probe.build(tmp_path_factory.mktemp("probe"), *defines).read_bytes()
        return built[defines]

    return image


@pytest.fixture
def start_esp32(tmp_path, monkeypatch):
    """Starts virtual ESP32s: `esp32_bench.starting`."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    with esp32_bench.starting(tmp_path) as start:
        yield start
