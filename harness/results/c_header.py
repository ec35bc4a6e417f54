"""A C and C++ header with the arena sizes of some models, for the firmware's build."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Final

from harness.domain.estimate import Estimate

_SUFFIX: Final = "_ARENA_BYTES"
_DEFAULT_GUARD: Final = "HARNESS_ARENA_SIZES_INCLUDED"
_TEXT_LIMIT: Final = 400


@dataclass(frozen=True)
class Header:
    """A finished header.

    Attributes:
        text: its contents.
        notes: what the user should know: macros that had to be renamed.
    """

    text: str
    notes: tuple[str, ...]


def render_header(
    estimates: Sequence[Estimate], *, margin_percent: float, command: str, file_name: str | None = None
) -> Header:
    """Write the header of some estimates. The same arguments give the same text.

    Args:
        estimates: one macro is made of each; its value is `recommended_arena_bytes`.
        margin_percent: that the recommendation holds.
        command: the command line that made them.
        file_name: the header's own, which its include guard is made of.
    """
    names = [_macro(estimate.model) for estimate in estimates]
    macros = _unique(names)
    notes = tuple(
        f"{estimate.model}: its macro is {macro}, because another model took {name}"
        for estimate, name, macro in zip(estimates, names, macros, strict=True)
        if macro != name
    )
    guard = _guard(file_name)
    blocks = [_block(estimate, macro, margin_percent) for estimate, macro in zip(estimates, macros, strict=True)]
    title = _comment(
        [
            "Arena sizes for TensorFlow Lite Micro, generated: do not edit.",
            "",
            f"Made by: {command}",  # whole, however long, so that it can be called again
            *map(_short, notes),
        ]
    )
    return Header(
        "\n".join([title, f"#ifndef {guard}", f"#define {guard}", "", *blocks, f"#endif /* {guard} */", ""]), notes
    )


def _block(estimate: Estimate, macro: str, margin_percent: float) -> str:
    profile = estimate.profile
    facts = [
        f"model: {estimate.model}",
        f"SHA-256: {estimate.sha256}",
        f"TFLM: {profile.tflm}, ABI {profile.abi}, kernels {profile.kernels}, estimated by {estimate.method}",
        f"margin: {margin_percent:g} %",
    ]
    if estimate.min_working_arena_bytes is not None:
        facts.append(f"smallest working arena: {estimate.min_working_arena_bytes} bytes")
    facts += [f"NOT EXACT: {reason}" for reason in estimate.unknown_parts]
    return f"{_comment(map(_short, facts))}\n#define {macro} {estimate.recommended_arena_bytes}\n"


def _macro(model: str) -> str:
    """`kws-int8.tflite` gives KWS_INT8_ARENA_BYTES."""
    return _identifier(PurePath(model).stem, "MODEL") + _SUFFIX


def _guard(file_name: str | None) -> str:
    return _identifier(PurePath(file_name).name, "HARNESS") + "_INCLUDED" if file_name else _DEFAULT_GUARD


def _identifier(text: str, fallback: str) -> str:
    """A C identifier that is reserved for nobody: no leading underscore, no two in a row."""
    words = re.sub(r"[^A-Za-z0-9]+", "_", text).strip("_").upper()
    return words if words and not words[0].isdigit() else f"{fallback}_{words}".rstrip("_")


def _unique(names: Sequence[str]) -> list[str]:
    """Names as they are where possible; the later of two equal ones gets a number."""
    unique: list[str] = []
    for name in names:
        number = 1
        candidate = name
        while candidate in unique or (number > 1 and candidate in names):
            number += 1
            candidate = f"{name.removesuffix(_SUFFIX)}_{number}{_SUFFIX}"
        unique.append(candidate)
    return unique


def _comment(lines: Iterable[str]) -> str:
    first, *rest = (_harmless(line) for line in lines)
    return "\n".join([f"/* {first}", *(f" * {line}".rstrip() for line in rest), " */"])


def _short(text: str) -> str:
    return text if len(text) <= _TEXT_LIMIT else text[: _TEXT_LIMIT - 3] + "..."


def _harmless(text: str) -> str:
    """Text that cannot end a comment, nor begin another: stars, backslashes and control characters are escaped."""
    return "".join(c if c.isascii() and c.isprintable() and c not in "*\\?" else f"<U+{ord(c):04X}>" for c in text)
