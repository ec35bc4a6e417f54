"""Post-mortems as JSON files, and back."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TypeVar

from harness.domain.postmortem import ArenaEnds, CodePlace, DeviceFault, PostMortem, RunningOperator
from harness.errors import ResultError, StorageError
from harness.files.fields import Fields
from harness.files.safe import write_atomically
from harness.files.text import read_json

_T = TypeVar("_T")

_LIMIT_BYTES = 1024 * 1024
_HINT = "a post-mortem is a file that harness run or harness sweep wrote"


def postmortem_to_json(found: PostMortem) -> dict[str, object]:
    """The stable keys of a post-mortem; bytes are hex digits."""
    return asdict(found, dict_factory=_as_json)


def postmortem_from_json(item: Fields) -> PostMortem:
    """The reverse of `postmortem_to_json`."""
    return PostMortem(
        model=item.text("model"),
        board=item.text("board"),
        unit=item.text("unit"),
        build_id=item.text("build_id"),
        error_class=item.text("error_class"),
        what=item.text("what"),
        fault=_optional(item, "fault", _fault),
        registers=item.inner("registers").all_integers(),
        fault_words=item.texts("fault_words") if item.has("fault_words") else (),
        fault_address=item.integer_or_none("fault_address"),
        pc=_optional(item, "pc", _place),
        lr=_optional(item, "lr", _place),
        kernel=_optional(item, "kernel", _place),
        calls=tuple(map(_place, item.inners("calls"))),
        stack=item.data("stack"),
        stack_free_bytes=item.integer_or_none("stack_free_bytes"),
        arena=_optional(item, "arena", _arena),
        probe_trouble=item.text("probe_trouble"),
        suspect=item.text("suspect"),
        reasons=item.texts("reasons"),
    )


def write_postmortem(path: Path, found: PostMortem) -> None:
    """Save a post-mortem.

    Raises:
        StorageError: the file cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError(f"cannot make the folder: {error.strerror}", where=path.parent) from error
    write_atomically(path, json.dumps(postmortem_to_json(found), indent=2).encode() + b"\n")


def read_postmortem(path: Path) -> PostMortem:
    """Read what `write_postmortem` wrote.

    Raises:
        ResultError: there is no such file, or it is something else.
    """
    values = read_json(path, _LIMIT_BYTES, ResultError, _HINT)
    if not isinstance(values, dict):
        raise ResultError("this is no post-mortem", where=path, hint=_HINT)
    return postmortem_from_json(Fields(str(path), values, ResultError, _HINT))


def _as_json(pairs: list[tuple[str, object]]) -> dict[str, object]:
    return {key: _json_value(value) for key, value in pairs}


def _json_value(value: object) -> object:
    if isinstance(value, bytes):
        return value.hex()
    return list(value) if isinstance(value, tuple) else value


def _optional(item: Fields, key: str, read: Callable[[Fields], _T]) -> _T | None:
    return read(item.inner(key)) if item.has(key) else None


def _fault(item: Fields) -> DeviceFault:
    return DeviceFault(
        kind=item.text("kind"),
        stage=item.text("stage"),
        text=item.text("text"),
        registers=item.inner("registers").all_integers(),
        operator=_optional(item, "operator", _operator),
    )


def _operator(item: Fields) -> RunningOperator:
    return RunningOperator(item.count("index"), item.text("name"), item.count("function"))


def _place(item: Fields) -> CodePlace:
    return CodePlace(item.count("address"), item.text("function"), item.text("file"), item.count("line"))


def _arena(item: Fields) -> ArenaEnds:
    return ArenaEnds(
        start=item.count("start"),
        size_bytes=item.count("size_bytes"),
        guard_low=item.data("guard_low"),
        guard_high=item.data("guard_high"),
        head=item.data("head"),
        tail=item.data("tail"),
    )
