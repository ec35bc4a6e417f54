"""The process in which the official TFLM wheel runs: `python -m harness.estimate.host.oracle_child ARENA_BYTES`.

The wheel is native code that trusts its input: a model may crash it or make it loop. harness itself only reads what
this process says. The model comes on stdin; 0 stands for an arena that grows until the model fits. On stdout go two
lines of JSON: what was allocated, in TFLM's own words, and then the smallest arena that works. A model that does not
fit, or that TFLM refuses, ends in EXIT_REFUSED with TFLM's reason on stderr.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from importlib.metadata import version
from typing import IO, Final

from tflite_micro import runtime

from harness.estimate.host.core_dumps import leave_no_core_dumps
from harness.estimate.host.estimate import EXIT_REFUSED, MAX_ARENA_BYTES

FIRST_ARENA_BYTES: Final = 64 * 1024
STEP_BYTES: Final = 4


def main() -> int:
    """Allocate the tensors of the model on stdin; returns the exit status."""
    leave_no_core_dumps()
    wanted = int(sys.argv[1])
    model = sys.stdin.buffer.read()
    output = os.dup(1)
    os.dup2(2, 1)  # the wheel greets on stdout
    size = FIRST_ARENA_BYTES if wanted == 0 else wanted
    while wanted == 0 and size < MAX_ARENA_BYTES and not _fits(model, size):
        size *= 2
    said, fits = _allocate(model, size)
    if not fits:
        os.write(2, said.encode())
        return EXIT_REFUSED
    _say(output, {"version": version("tflite-micro"), "arena_size_bytes": size, "log": said})
    _say(output, {"min_working_arena_bytes": _smallest(model, size)})
    return 0


def _say(output: int, fields: dict[str, object]) -> None:
    """At once: the next allocation may be the last."""
    os.write(output, json.dumps(fields).encode() + b"\n")


def _smallest(model: bytes, works: int) -> int:
    """Bisection between nothing and a size that works, in steps of 4 bytes."""
    fails = 0
    while works - fails > STEP_BYTES:
        middle = (works + fails) // 2 // STEP_BYTES * STEP_BYTES
        if _fits(model, middle):
            works = middle
        else:
            fails = middle
    return works


def _fits(model: bytes, size: int) -> bool:
    """Whether a model fits in an arena. Where it does not, TFLM may write through null pointers: a crash is a no."""
    process = os.fork()
    if process == 0:
        os._exit(0 if _allocate(model, size)[1] else 1)
    return os.waitpid(process, 0)[1] == 0


def _allocate(model: bytes, size: int) -> tuple[str, bool]:
    """Run AllocateTensors in an arena: what TFLM said, and whether it succeeded."""
    with _native_stderr() as said:
        try:
            runtime.Interpreter.from_bytes(model, arena_size=size).print_allocations()
            fits = True
        except RuntimeError:  # which is how the wheel says that AllocateTensors failed
            fits = False
        said.seek(0)
        return said.read().decode(errors="replace"), fits


@contextlib.contextmanager
def _native_stderr() -> Iterator[IO[bytes]]:
    """Catch what native code writes to file descriptor 2."""
    with tempfile.TemporaryFile() as caught:
        kept = os.dup(2)
        os.dup2(caught.fileno(), 2)
        try:
            yield caught
        finally:
            os.dup2(kept, 2)
            os.close(kept)


if __name__ == "__main__":
    sys.exit(main())
