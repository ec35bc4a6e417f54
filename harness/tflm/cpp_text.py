"""C++ as text: enough to read declarations from headers without a compiler."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_COMMENT_OR_TEXT = re.compile(r"""//[^\n]*|/\*(?:.*?\*/|.*)|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])+'""", re.DOTALL)
_BRACKET_OR_TEXT = re.compile(r""""(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])+'|[(){}]""")
_DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*(if|ifdef|ifndef|endif|include)\b[ \t]*([^\n]*)", re.MULTILINE)
_INCLUDE = re.compile(r"\"([^\"\n]+)\"|<([^>\n]+)>")


@dataclass(frozen=True)
class Include:
    """An `#include`.

    Attributes:
        name: what it names.
        quoted: whether in quotation marks: then it is first looked for beside the file that includes it.
        conditional: whether it depends on an `#if`, other than the one that guards the whole file.
    """

    name: str
    quoted: bool
    conditional: bool


def without_comments(code: str) -> str:
    """The code with a space in place of each comment."""
    return _COMMENT_OR_TEXT.sub(lambda found: " " if found[0].startswith("/") else found[0], code)


def closing_brackets(code: str) -> dict[int, int]:
    """Where each parenthesis and each brace is closed, by where it opens.

    Args:
        code: without comments.
    """
    closed_at = {}
    open_at: list[int] = []
    for found in _BRACKET_OR_TEXT.finditer(code):
        if found[0] in "({":
            open_at.append(found.start())
        elif found[0] in ")}" and open_at:
            closed_at[open_at.pop()] = found.start()
    return closed_at


def includes(code: str) -> Iterator[Include]:
    """All `#include`s, also those that a compiler would skip.

    Args:
        code: without comments.
    """
    depth, is_guarded = 0, None
    for directive in _DIRECTIVE.finditer(code):
        if is_guarded is None:
            is_guarded = directive[1] == "ifndef"
        if directive[1].startswith("if"):
            depth += 1
        elif directive[1] == "endif":
            depth -= 1
        elif named := _INCLUDE.match(directive[2]):
            yield Include(named[1] or named[2], named[1] is not None, depth > int(is_guarded))
