"""The whole command as a shell starts it: what only shows at its standard streams."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.models import chain

HARNESS = [sys.executable, "-m", "harness"]


def test_a_reader_that_has_gone_is_no_deviation(tmp_path: Path) -> None:
    model = tmp_path / "model.tflite"
    model.write_bytes(chain("TANH", "TANH").build())
    reader, writer = os.pipe()
    os.close(reader)
    ended = subprocess.run([*HARNESS, "estimate", str(model)], stdout=writer, stderr=subprocess.PIPE, check=False)
    os.close(writer)
    assert (ended.returncode, ended.stderr) == (0, b"")


def test_a_full_disk_is_told() -> None:
    with Path("/dev/full").open("wb") as full:
        ended = subprocess.run([*HARNESS, "boards"], stdout=full, stderr=subprocess.PIPE, check=False)
    assert (ended.returncode, ended.stderr) == (3, b"error: No space left on device\n")


ODD_NAME = "modèle ✓ 😀.tflite"


@pytest.fixture
def odd_model(tmp_path: Path) -> Path:
    path = tmp_path / ODD_NAME
    path.write_bytes(chain("TANH", "TANH").build())
    return path


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252", "cp1252:strict", "utf-8"])
@pytest.mark.parametrize("output_format", ["table", "json", "csv", "markdown", "c-header"])
def test_no_result_is_lost_in_a_terminal_s_encoding(odd_model: Path, encoding: str, output_format: str) -> None:
    ended = subprocess.run(
        [*HARNESS, "estimate", str(odd_model), "--format", output_format],
        env={**os.environ, "PYTHONIOENCODING": encoding},
        capture_output=True,
        check=False,
    )
    assert (ended.returncode, ended.stderr) == (0, b"")
    # Click takes an ASCII terminal for one that is set up wrongly, and writes UTF-8.
    text = ended.stdout.decode("utf-8" if encoding == "ascii" else encoding.partition(":")[0])
    assert "2026-" in text
    if output_format == "json":
        assert json.loads(text)[0]["model"] == ODD_NAME


def test_a_name_that_no_encoding_has_is_printed(tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(b"\xff.tflite")
    ended = subprocess.run([*HARNESS, "estimate", str(path)], capture_output=True, text=True, check=False)
    assert ended.returncode == 2
    assert "there is no such file" in ended.stderr


def test_a_working_folder_that_was_removed_is_told(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    code = (
        "import os, sys; os.rmdir(os.getcwd()); os.execv(sys.executable, [sys.executable, '-m', 'harness', 'boards'])"
    )
    ended = subprocess.run([sys.executable, "-c", code], cwd=gone, capture_output=True, text=True, check=False)
    assert ended.returncode == 2
    assert "the working folder does not exist any more" in ended.stderr
    assert "hint: change to another folder" in ended.stderr


WAIT_IN_A_CONTEXT = """
import signal, sys, time
from contextlib import contextmanager
from harness import cli

@contextmanager
def board():
    try:
        yield
    finally:
        print("given back", flush=True)

def run():
    with board():
        print("ready", flush=True)
        time.sleep(30)

cli.cli.main = lambda standalone_mode: run()
cli.main()
"""


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_a_signal_ends_it_with_everything_given_back(name: str) -> None:
    # The tests themselves may have been started by nohup, which a child inherits.
    code = f"import signal; signal.signal(signal.{name}, signal.SIG_DFL)" + WAIT_IN_A_CONTEXT
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert child.stdout is not None
    assert child.stdout.readline() == "ready\n"
    child.send_signal(getattr(signal, name))
    out, err = child.communicate(timeout=20)
    assert (child.returncode, out) == (130, "given back\n")
    assert "interrupted" in err


def test_nohup_is_respected() -> None:
    code = "import signal; signal.signal(signal.SIGHUP, signal.SIG_IGN)" + WAIT_IN_A_CONTEXT.replace("(30)", "(1)")
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert child.stdout is not None
    assert child.stdout.readline() == "ready\n"
    child.send_signal(signal.SIGHUP)
    out, _ = child.communicate(timeout=20)
    assert (child.returncode, out) == (0, "given back\n")
