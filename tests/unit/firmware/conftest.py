"""The firmware's application, compiled for this machine with a fake TFLM that does to the arena what a test says."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from harness.build.model_image import pack
from harness.device import wire
from harness.files.resources import firmware_dir
from tests.support.firmware_script import BUILD_ID, NONCE, Script, Talk


@pytest.fixture(scope="session")
def firmware_program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = shutil.which("g++")
    if compiler is None:
        pytest.skip("needs a compiler for this machine: g++")
    here = Path(__file__).parent
    program = tmp_path_factory.mktemp("firmware") / "firmware"
    flags = ["-std=c++17", "-g", "-O1", "-Wall", "-Wextra", "-Werror", "-fsanitize=address,undefined"]
    flags += ["-fno-sanitize-recover=all", "-fno-builtin-abort", f"-I{firmware_dir()}"]
    flags += [f'-DHARNESS_BUILD_ID="{BUILD_ID}"', '-DHARNESS_BOARD_ID="host"', '-DHARNESS_TFLM_GENERATION="fake"']
    sources = [*sorted((firmware_dir() / "app").glob("*.cc")), here / "host_platform.cc", here / "fake_tflm.cc"]
    subprocess.run([compiler, *flags, *map(str, sources), "-o", str(program)], check=True, timeout=240)
    return program


@pytest.fixture
def talk(firmware_program: Path, tmp_path: Path) -> Callable[..., Talk]:
    """Start the firmware with a model region, send it lines, and return all it said."""

    def run(
        *commands: Mapping[str, object] | bytes,
        script: Script | None = None,
        region: bytes | None = None,
        cut_off_frames: int = 0,
    ) -> Talk:
        if region is None:
            model = (script or Script()).packed()
            region = pack(model, hashlib.sha256(model).hexdigest(), BUILD_ID)
        flash = tmp_path / "model_flash"
        flash.write_bytes(region or b"\xff")
        sent = b"".join(
            command if isinstance(command, bytes) else wire.encode_command(number, NONCE, command)
            for number, command in enumerate(commands)
        )
        done = subprocess.run(
            [str(firmware_program), str(flash)], input=sent, capture_output=True, timeout=60, check=False
        )
        assert done.stderr == b"", "the sanitizers found something"
        events = list(wire.Decoder().feed(done.stdout))
        damaged = [event for event in events if isinstance(event, wire.Damaged | wire.OtherVersion)]
        assert len(damaged) == cut_off_frames
        frames = [event for event in events if isinstance(event, wire.Frame)]
        log = [event.text for event in events if isinstance(event, wire.LogText)]
        return Talk(frames, log, done.returncode, done.stdout)

    return run
