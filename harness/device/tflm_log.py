"""What TFLM's own log lines mean. Their wording differs from version to version and from stage to stage.

The wordings are those of micro_allocator.cc, simple_memory_allocator.cc, micro_interpreter.cc and the memory planners
of 2020-07, and of their successors of 2026-08 (single_arena_buffer_allocator.cc, micro_interpreter_graph.cc, …).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from harness.errors import ArenaTooSmallError, DeviceError, ModelRefusedError, OperatorMissingError

_QUOTE = 300
_QUOTED_LINES = 3


@dataclass(frozen=True)
class Wording:
    """One way in which TFLM says something.

    Attributes:
        pattern: finds it in a line.
        step: what TFLM was doing.
        meaning: what it means.
    """

    pattern: re.Pattern[str]
    step: str
    meaning: str


def _wording(pattern: str, step: str, meaning: str) -> Wording:
    return Wording(re.compile(pattern), step, meaning)


# The first one that fits a line counts: the more telling ones come first. The line that names the operator ("Node
# CONV_2D failed to prepare") follows them.
ARENA_TOO_SMALL: tuple[Wording, ...] = (
    _wording(r"cannot hold TFLM's own allocator", "making the allocator", "not even the allocator fits"),
    _wording(r"MicroAllocator: Failed to init|Failed starting model alloc", "starting", "not even the allocator fits"),
    _wording(r"[Aa]rena size is too small", "planning", "the planned tensors do not fit"),
    # The planner's tables live in the free middle; with too little of it, it takes "too many" for the cause.
    _wording(r"Too many buffers", "planning", "the memory planner's own tables do not fit"),
    _wording(r"Failed to allocate (?:memory for )?allocation_info", "planning", "the list of buffers does not fit"),
    _wording(r"Failed to (?:re)?size (?:the )?buffer", "resizing the head", "the scratch requests do not fit"),
    _wording(r"Failed to (?:allocate|register) scratch", "preparing", "the list of scratch buffers does not fit"),
    _wording(r"Failed to allocate persistent buffer", "preparing", "an operator's data do not fit"),
    _wording(r"Failed to allocate temp", "preparing", "a temporary tensor does not fit"),
    _wording(r"Failed to allocate variable", "allocating variables", "the variables do not fit"),
    _wording(r"Failed to allocate resource", "allocating variables", "the resource variables do not fit"),
    _wording(r"Unable to allocate|unable to allocate", "reading the model", "the quantization data do not fit"),
    _wording(
        r"context->tensors|input_tensors_|output_tensors_", "reading the model", "the list of tensors does not fit"
    ),
    _wording(r"Failed to allocate .*node_and_reg", "reading the model", "the list of operators does not fit"),
    _wording(
        r"Failed to allocate memory for persistent Tf", "reading the model", "a tensor's description does not fit"
    ),
    _wording(r"[Ff]ailed to allocate (?:tail )?memory", "allocating the tail", "the persistent data do not fit"),
    _wording(r"[Ff]ailed to allocate", "allocating", "something does not fit"),
)
OPERATOR_MISSING: tuple[Wording, ...] = (
    _wording(r"Didn't find op for builtin opcode '(?P<name>[^']*)'", "reading the model", "it has no such operator"),
    _wording(r"Failed to get registration from op code (?P<name>\S+)", "reading the model", "it has no such operator"),
    _wording(r"Missing registration for opcode_index (?P<name>\d+)", "reading the model", "it has no such operator"),
)
MODEL_REFUSED: tuple[Wording, ...] = (
    _wording(r"[Tt]ype \w+ .*not (?:currently )?supported|not supported", "", "a kernel cannot do what the model asks"),
    _wording(r"\.(?:cc|h):\d+ .+ (?:!=|was not true)", "", "a check in a kernel failed"),
    _wording(r"Only 1 subgraph", "reading the model", "it takes one subgraph only"),
    _wording(r"Unsupported behavior", "reading the model", "it takes no custom options here"),
    _wording(r"invalid lifetime|Overlap: ", "planning", "the memory plan contradicts itself"),
    _wording(r"Maximum resource variable count", "preparing", "it has no room for so many resource variables"),
)

_NODE = re.compile(r"Node (?P<name>.{1,60}?) \(number (?P<number>\d+)f?\) failed to (?P<doing>prepare|invoke)")
# Sizes are unsigned 32-bit numbers: one that fell below zero shows as just under 4.29 thousand millions.
_SIZE = re.compile(r"(?:[Rr]equested:?|[Nn]eeded|available|size|missing:?)\s+(\d{10})\b")
_NEGATIVE = 1 << 31


def tells_of_small_arena(log: Sequence[str]) -> bool:
    """Whether a line says that something did not fit. Some kernels go on, with memory that is not theirs."""
    return any(wording.pattern.search(line) for line in log for wording in ARENA_TOO_SMALL)


def explain(log: Sequence[str], stage: str) -> DeviceError:
    """The error that TFLM's log lines amount to.

    Args:
        log: the lines since the stage began.
        stage: what failed, `AllocateTensors` or `Invoke`.
    """
    place = _place(log, stage)
    for wordings, error in ((ARENA_TOO_SMALL, _too_small), (OPERATOR_MISSING, _missing), (MODEL_REFUSED, _refused)):
        for wording in wordings:
            line = next((line for line in log if wording.pattern.search(line)), None)
            if line is not None:
                return error(wording, line, place, log)
    return ModelRefusedError(f"TFLM refused the model in {place}", measured=_words(log))


def _too_small(wording: Wording, line: str, place: str, _log: Sequence[str]) -> ArenaTooSmallError:
    return ArenaTooSmallError(
        f"the arena is too small: {wording.meaning} ({place}, {wording.step})",
        measured=f"TFLM's words: {line[:_QUOTE]}{_underflow(line)}",
        hint="give a larger --arena-size, or ask for the smallest that works: harness min-arena",
    )


def _missing(wording: Wording, line: str, place: str, _log: Sequence[str]) -> OperatorMissingError:
    match = wording.pattern.search(line)
    name = match["name"] if match else line
    return OperatorMissingError(
        f"TFLM on the device has no operator {name} of this version ({place})",
        measured=f"TFLM's words: {line[:_QUOTE]}",
        hint="convert the model for an older TFLite, or choose another TFLM with --tflm",
    )


def _refused(wording: Wording, _line: str, place: str, log: Sequence[str]) -> ModelRefusedError:
    """What a kernel dislikes stands before the line that names the operator: the end of the log tells both."""
    return ModelRefusedError(f"TFLM refused the model in {place}: {wording.meaning}", measured=_words(log))


def _place(log: Sequence[str], stage: str) -> str:
    """The stage, and the operator that a line names."""
    match = next(filter(None, map(_NODE.search, log)), None)
    return f"{stage}, operator {match['number']} {match['name']}" if match else stage


def _words(log: Sequence[str]) -> str:
    words = " / ".join(log[-_QUOTED_LINES:]) or "none"
    return f"its words: {words[:_QUOTE]}"


def _underflow(line: str) -> str:
    """A remark on sizes that have fallen below zero."""
    sizes = [int(digits) for digits in _SIZE.findall(line)]
    below = [size - 2 * _NEGATIVE for size in sizes if _NEGATIVE <= size < 2 * _NEGATIVE]
    return f" ({', '.join(map(str, below))}: a size below zero)" if below else ""
