"""What TFLM's own log lines mean. Their wording differs from version to version and from stage to stage."""

from __future__ import annotations

import re
from collections.abc import Sequence

from harness.errors import ArenaTooSmallError, DeviceError, ModelRefusedError

_QUOTE = 300
_QUOTED_LINES = 3

# Wording → what did not fit. Anything else is a refusal of the model itself; the line that names the operator ("Node
# CONV_2D failed to prepare") follows both.
_ARENA_TOO_SMALL: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"[Aa]rena size is too small"), "the planned tensors do not fit"),
    (re.compile(r"[Ff]ailed to (re)?size (the )?buffer"), "the scratch requests do not fit"),
    (re.compile(r"Failed to allocate (tail )?memory"), "the persistent data do not fit"),
    (re.compile(r"Failed to allocate variables"), "the variables do not fit"),
    (re.compile(r"Failed to allocate persistent buffer"), "an operator's data do not fit"),
    (re.compile(r"Failed to (allocate|register scratch)"), "the persistent data do not fit"),
    (re.compile(r"Unable to allocate"), "the quantization data do not fit"),
    (re.compile(r"MicroAllocator: Failed to init|cannot hold TFLM's own allocator"), "not even the allocator fits"),
    # The planner's tables live in the free middle; with too little of it, it takes "too many" for the cause.
    (re.compile(r"Too many buffers"), "the memory planner's own tables do not fit"),
)


def explain(log: Sequence[str], stage: str) -> DeviceError:
    """The error that TFLM's log lines amount to.

    Args:
        log: the lines since the stage began.
        stage: what failed, `AllocateTensors` or `Invoke`.
    """
    for pattern, meaning in _ARENA_TOO_SMALL:
        line = next((line for line in log if pattern.search(line)), None)
        if line is not None:
            return _too_small(stage, line, meaning)
    return _refused(stage, log)


def _too_small(stage: str, line: str, meaning: str) -> ArenaTooSmallError:
    return ArenaTooSmallError(
        f"the arena is too small: {meaning} ({stage})",
        measured=f"TFLM's words: {line[:_QUOTE]}",
        hint="give a larger --arena-size, or ask for the smallest that works: harness min-arena",
    )


def _refused(stage: str, log: Sequence[str]) -> ModelRefusedError:
    """What a kernel dislikes stands before the line that names the operator: the end of the log tells both."""
    words = " / ".join(log[-_QUOTED_LINES:]) or "none"
    return ModelRefusedError(f"TFLM refused the model in {stage}", measured=f"its words: {words[:_QUOTE]}")
