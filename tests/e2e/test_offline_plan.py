"""A plan that harness writes into a model is followed by TFLM itself: less memory, the same results."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.models import layers
from tests.support.places import SHARED_MODELS

# In a process of its own: the wheel is native code, and prints its allocations past Python's stderr.
RUN_ON_THE_HOST = """
import json, sys
import numpy as np
from tflite_micro import runtime

interpreter = runtime.Interpreter.from_file(sys.argv[1], arena_size=1 << 20)
numbers = np.random.default_rng(7)
details = interpreter.get_input_details(0)
outputs = []
for _ in range(20):
    values = numbers.uniform(-100, 100, details["shape"]).astype(details["dtype"])
    interpreter.set_input(values, 0)
    interpreter.invoke()
    outputs.append(interpreter.get_output(0).tobytes().hex())
print(json.dumps(outputs))
interpreter.print_allocations()
"""


@dataclass(frozen=True)
class HostRun:
    """What TFLM on the host said."""

    total_bytes: int
    head_bytes: int
    outputs: list[str]


def run_on_the_host(model: Path) -> HostRun:
    pytest.importorskip("tflite_micro", reason="the extra `oracle` is not installed")
    ended = subprocess.run(
        [sys.executable, "-c", RUN_ON_THE_HOST, model], capture_output=True, text=True, timeout=60, check=True
    )
    said = dict(re.findall(r"Arena allocation (\w+) (\d+) bytes", ended.stderr))
    return HostRun(int(said["total"]), int(said["head"]), json.loads(ended.stdout.splitlines()[0]))


def harness_plan(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "harness", "plan", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


@pytest.fixture
def fully_connected(tmp_path: Path) -> Path:
    path = tmp_path / "layers.tflite"
    path.write_bytes(layers().build())
    return path


def test_tflm_needs_less_and_computes_the_same(fully_connected: Path, tmp_path: Path) -> None:
    better = tmp_path / "better.tflite"
    ended = harness_plan(fully_connected, "--write-offline", better, "--format", "json")
    assert ended.returncode == 0, ended.stderr
    promised = json.loads(ended.stdout)[0]
    before, after = run_on_the_host(fully_connected), run_on_the_host(better)
    assert (before.head_bytes, after.head_bytes) == (
        promised["head_bytes"],
        promised["best_plan"]["offline_head_bytes"],
    )
    assert before.total_bytes - after.total_bytes == promised["best_plan"]["saving_bytes"] == 704 - 480
    assert before.outputs == after.outputs
    assert len(set(before.outputs)) == len(before.outputs)


def test_a_streaming_model_with_variables_keeps_its_state(tmp_path: Path) -> None:
    model = SHARED_MODELS / "okay_nabu_streaming_int8.tflite"
    if not model.exists():
        pytest.skip("no ../shared/models beside the checkout")
    better = tmp_path / "better.tflite"
    ended = harness_plan(model, "--write-offline", better)
    assert ended.returncode == 0, ended.stderr
    before, after = run_on_the_host(model), run_on_the_host(better)
    assert before.head_bytes - after.head_bytes == before.total_bytes - after.total_bytes == 64
    assert before.outputs == after.outputs
    assert len(set(before.outputs)) > 1


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--tflm", "2020-07"], "TFLM 2020-07 ignores offline plans"),
        (["--board", "no-such-board"], "no-such-board"),
    ],
)
def test_a_refusal_writes_nothing(fully_connected: Path, tmp_path: Path, options: list[str], reason: str) -> None:
    ended = harness_plan(fully_connected, "--write-offline", tmp_path / "out.tflite", *options)
    assert ended.returncode == 2
    assert reason in ended.stderr
    assert [path.name for path in tmp_path.iterdir()] == [fully_connected.name]


def test_what_exists_is_overwritten_only_when_told(fully_connected: Path, tmp_path: Path) -> None:
    there = tmp_path / "there.tflite"
    there.write_text("mine")
    ended = harness_plan(fully_connected, "--write-offline", there)
    assert ended.returncode == 2
    assert there.read_text() == "mine"
    assert harness_plan(fully_connected, "--write-offline", there, "--force").returncode == 0
    assert there.read_bytes()[4:8] == b"TFL3"


def test_the_model_itself_is_never_overwritten(fully_connected: Path) -> None:
    old = fully_connected.read_bytes()
    ended = harness_plan(fully_connected, "--write-offline", fully_connected, "--force")
    assert ended.returncode == 2
    assert fully_connected.read_bytes() == old
