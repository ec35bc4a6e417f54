"""Recognises forks of TFLM: headers that have a release's marks, and structures of their own besides."""

from __future__ import annotations

import re
from collections.abc import Mapping

from harness.domain.generations import TflmGeneration
from harness.errors import SourceError
from harness.tflm.cpp_text import closing_brackets

_MICRO = "tensorflow/lite/micro"
_INTERPRETER = f"{_MICRO}/micro_interpreter.h"
_ALLOCATOR = f"{_MICRO}/arena_allocator/single_arena_buffer_allocator.h"
HEADERS = (_INTERPRETER, _ALLOCATOR)
"""Those that a fork shows in."""

COUNTS_TEMPORARIES = "counts-temporaries"
"""The trait of Infineon's fork."""
EDGE_IMPULSE = "edge-impulse-sdk"
_CLASS = re.compile(r"\bclass\s+SingleArenaBufferAllocator\b[^;{]*(\{)")
_NESTED = re.compile(r"\{[^{}]*\}")
# A type, which is no keyword of another statement, and a name that ends in an underscore.
_MEMBER = re.compile(
    r"(?:^|[;:}])\s*(?!return\b|using\b|friend\b|delete\b)(?:[A-Za-z_][\w:<>]*[\s*&]+)+(\w+_)\s*(?:=[^;(){}]*)?(?=;)"
)
# Of all releases since the class has its name; the reporter until 2022-09-19.
_MEMBERS = frozenset(
    {
        *("error_reporter_", "buffer_head_", "buffer_tail_", "head_", "tail_", "temp_"),
        *("temp_buffer_ptr_check_sum_", "temp_buffer_count_"),
    }
)


def fork_traits(texts: Mapping[str, str], generation: TflmGeneration) -> frozenset[str]:
    """The traits of a fork that is estimated for: Infineon's counts temporary bytes, in one more member."""
    known = any(trait.name == COUNTS_TEMPORARIES for trait in generation.traits)
    return (
        frozenset({COUNTS_TEMPORARIES}) if known and len(_own_members(texts.get(_ALLOCATOR, ""))) == 1 else frozenset()
    )


def refuse_fork(texts: Mapping[str, str], where: str, generation: TflmGeneration | None) -> None:
    """Refuse a fork, whose arena no table can tell.

    Args:
        texts: of HEADERS, those that are there, without comments.
        where: the folders that they are in.
        generation: whose marks they have; None for none.

    Raises:
        SourceError: they are of a fork.
    """
    if f'"{EDGE_IMPULSE}/' in texts.get(_INTERPRETER, ""):
        raise edge_impulse(where, f"includes that begin with {EDGE_IMPULSE}/")
    own = _own_members(texts.get(_ALLOCATOR, ""))
    if own and not (generation and fork_traits(texts, generation)):
        raise SourceError(
            f"these are headers of a fork of TFLM{f' {generation.name}' if generation else ''}",
            where=where,
            measured=f"SingleArenaBufferAllocator has {', '.join(own)} besides what TFLM's own has",
            expected="structures of the sizes that a release of tflite-micro has",
            hint="harness has no table for it: measure tflite-micro itself, of the same date",
        )


def edge_impulse(where: str, found: str) -> SourceError:
    """The error for Edge Impulse's SDK."""
    return SourceError(
        "this is Edge Impulse's SDK, a fork of TFLM with includes and structures of its own",
        where=where,
        measured=found,
        hint="take the release of TFLM that the model was trained for",
    )


def _own_members(header: str) -> tuple[str, ...]:
    """The members of the allocator that no release has."""
    begin = _CLASS.search(header)
    if begin is None:
        return ()
    body = header[begin.end() : closing_brackets(header).get(begin.start(1), len(header))]
    while _NESTED.search(body):
        body = _NESTED.sub(";", body)
    return tuple(name for name in dict.fromkeys(_MEMBER.findall(body)) if name not in _MEMBERS)
