"""The process in which the official TFLM wheel runs a model: `python -m harness.estimate.host.oracle_run SIZES`.

SIZES is a JSON object: `model_bytes`, `input_bytes` (a list) and `invokes`. On stdin come the model and the inputs, one
behind the other. On stdout goes one JSON object: the wheel's `version`, and the `outputs` as hex digits.
"""

from __future__ import annotations

import json
import os
import sys
from importlib.metadata import version
from typing import Final

import numpy as np
from tflite_micro import runtime

from harness.estimate.host.core_dumps import leave_no_core_dumps
from harness.estimate.host.estimate import EXIT_REFUSED

ARENA_BYTES: Final = 64 * 1024 * 1024


def main() -> int:
    """Run the model on stdin; returns the exit status."""
    leave_no_core_dumps()
    sizes = json.loads(sys.argv[1])
    model = sys.stdin.buffer.read(sizes["model_bytes"])
    inputs = [sys.stdin.buffer.read(size) for size in sizes["input_bytes"]]
    output = os.dup(1)
    os.dup2(2, 1)  # the wheel greets on stdout
    try:
        outputs = _run(model, inputs, sizes["invokes"])
    except (RuntimeError, ValueError) as error:  # the wheel's way to say that TFLM, or it, does not want to
        os.write(2, f"\n{error}\n".encode())
        return EXIT_REFUSED
    answer = {"version": version("tflite-micro"), "outputs": [data.hex() for data in outputs]}
    with os.fdopen(output, "w") as stream:
        json.dump(answer, stream)
    return 0


def _run(model: bytes, inputs: list[bytes], invokes: int) -> list[bytes]:
    interpreter = runtime.Interpreter.from_bytes(model, arena_size=ARENA_BYTES)
    details = [interpreter.get_input_details(index) for index in range(len(inputs))]
    for _ in range(invokes):
        for index, (data, detail) in enumerate(zip(inputs, details, strict=True)):
            array = np.frombuffer(data, dtype=detail["dtype"]).reshape(detail["shape"])
            interpreter.set_input(array, index)
        interpreter.invoke()
    return [np.ascontiguousarray(array).tobytes() for array in _outputs(interpreter)]


def _outputs(interpreter: runtime.Interpreter) -> list[np.ndarray]:
    """All output tensors; the wheel does not say how many there are."""
    outputs: list[np.ndarray] = []
    try:
        while True:
            outputs.append(interpreter.get_output(len(outputs)))
    except IndexError:
        return outputs


if __name__ == "__main__":
    sys.exit(main())
