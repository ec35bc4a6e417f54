"""What TFLM's own log lines mean. Their wording differs from version to version and from stage to stage."""

from __future__ import annotations

import re
from collections.abc import Sequence

from harness.errors import ArenaTooSmallError, DeviceError, ModelRefusedError

# Wording → kind of error. The first pattern that fits any line decides, so that a cause stands before its consequences
# ("Node CONV_2D failed to prepare" follows both a full arena and a wrong shape).
_MEANINGS: tuple[tuple[re.Pattern[str], type[DeviceError], str], ...] = (
    (re.compile(r"[Aa]rena size is too small"), ArenaTooSmallError, "the planned tensors do not fit"),
    (re.compile(r"[Ff]ailed to (re)?size (the )?buffer"), ArenaTooSmallError, "the scratch requests do not fit"),
    (re.compile(r"Failed to allocate (tail )?memory"), ArenaTooSmallError, "the persistent data do not fit"),
    (re.compile(r"Failed to allocate variables"), ArenaTooSmallError, "the variables do not fit"),
    (re.compile(r"Failed to allocate persistent buffer"), ArenaTooSmallError, "an operator's data do not fit"),
    (re.compile(r"Failed to (allocate|register scratch)"), ArenaTooSmallError, "the persistent data do not fit"),
    (re.compile(r"Unable to allocate"), ArenaTooSmallError, "the quantization data do not fit"),
    (re.compile(r"MicroAllocator: Failed to init"), ArenaTooSmallError, "not even the allocator fits"),
    # The planner's tables live in the free middle; with too little of it, it takes "too many" for the cause.
    (re.compile(r"Too many buffers"), ArenaTooSmallError, "the memory planner's own tables do not fit"),
    (re.compile(r"[Dd]idn't find op|Missing registration|Failed to get registration"), ModelRefusedError, ""),
    (re.compile(r"Only 1 subgraph"), ModelRefusedError, ""),
    (re.compile(r"failed to (prepare|invoke)"), ModelRefusedError, ""),
)


def explain(log: Sequence[str], stage: str) -> DeviceError:
    """The error that TFLM's log lines amount to.

    Args:
        log: the lines since the stage began.
        stage: what failed, `AllocateTensors` or `Invoke`.
    """
    for pattern, kind, meaning in _MEANINGS:
        line = next((line for line in log if pattern.search(line)), None)
        if line is not None:
            return _error(kind, stage, line, meaning)
    said = log[-1] if log else "nothing"
    return ModelRefusedError(f"TFLM refused the model in {stage}", measured=f"its log: {said[:200]}")


def _error(kind: type[DeviceError], stage: str, line: str, meaning: str) -> DeviceError:
    if kind is ArenaTooSmallError:
        return kind(
            f"the arena is too small: {meaning} ({stage})",
            measured=f"TFLM's words: {line[:200]}",
            hint="give a larger --arena-size, or ask for the smallest that works: harness min-arena",
        )
    return kind(f"TFLM refused the model in {stage}", measured=f"its words: {line[:200]}")
