"""Run of a model with the official TFLM wheel on this machine, for its outputs."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec

from harness.errors import DeadlineError, ModelError, PluginError
from harness.estimate.host.estimate import DEADLINE_S, HOST_PROFILE, host_failure
from harness.estimate.reading.model_file import ModelFile
from harness.files.fields import Fields


@dataclass(frozen=True)
class HostRun:
    """What the model's outputs are on this machine.

    Attributes:
        tflm: what ran, for people.
        outputs: the output tensors' bytes after the last Invoke.
    """

    tflm: str
    outputs: tuple[bytes, ...]


def host_run(model: ModelFile, inputs: Sequence[bytes], invokes: int, deadline_s: float = DEADLINE_S) -> HostRun:
    """Run a model on this machine, in a child process: the wheel is native code that trusts its input.

    Args:
        model: the file; it must have been parsed before.
        inputs: the input tensors' bytes, in order; they are fed anew before each Invoke.
        invokes: how often to run it in one life of the interpreter, since its state may change from run to run.
        deadline_s: seconds after which the child process is killed.

    Raises:
        PluginError: the wheel is not installed.
        ModelError: TFLM refuses the model, or crashes on it.
        DeadlineError: the child process did not end in time.
    """
    if find_spec("tflite_micro") is None:
        raise PluginError(
            "checking outputs needs the official TFLM wheel, which is not installed",
            hint="pip install 'harness[oracle]'",
        )
    sizes = {"model_bytes": len(model.data), "input_bytes": [len(data) for data in inputs], "invokes": invokes}
    command = [sys.executable, "-P", "-m", "harness.estimate.host.oracle_run", json.dumps(sizes)]
    given = b"".join((model.data, *inputs))
    try:
        done = subprocess.run(command, input=given, capture_output=True, timeout=deadline_s, check=False)
    except subprocess.TimeoutExpired:
        raise DeadlineError(
            "TFLM on the host did not come to an end", where=model.name, expected=f"within {deadline_s:g} s"
        ) from None
    if done.returncode != 0:
        raise host_failure(model, 0, done.returncode, done.stderr.decode(errors="replace"))
    said = Fields(model.name, json.loads(done.stdout), ModelError)
    outputs = tuple(bytes.fromhex(text) for text in said.texts("outputs"))
    return HostRun(f"TFLM {HOST_PROFILE.tflm} (tflite-micro {said.text('version')})", outputs)
