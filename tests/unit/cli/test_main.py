"""The whole command as a shell starts it: what only shows at its standard streams."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

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
