"""The headers of a TFLM that somebody else has built: which generation they are, and whether all are there."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from harness.domain.generations import FIRST, GENERATIONS, TflmGeneration, canonical, generation_named, served
from harness.errors import SourceError
from harness.files.cache import fingerprint
from harness.files.resources import firmware_dir
from harness.files.safe import read_bounded
from harness.tflm import forks, static_memory
from harness.tflm.cpp_text import Include, includes, without_comments
from harness.tflm.operators import HeaderOperators, micro_ops_operators, resolver_operators

SCHEMA_VERSION = 3
"""The only version of the schema that there has been since 2017."""

_MICRO = "tensorflow/lite/micro"
_RESOLVER = f"{_MICRO}/micro_mutable_op_resolver.h"
_DEBUG_LOG = f"{_MICRO}/debug_log.h"
_VARIABLE_ARGUMENTS = re.compile(r"\bDebugLog\s*\([^)]*\bva_list\b")
_MICRO_OPS = f"{_MICRO}/kernels/micro_ops.h"
_SCHEMA = "tensorflow/lite/schema/schema_generated.h"


_SCHEMA_VERSION = re.compile(r"#[ \t]*define[ \t]+TFLITE_SCHEMA_VERSION[ \t]+\(?(\d+)")
_TF_VERSION = re.compile(r"#[ \t]*define[ \t]+TF_(MAJOR|MINOR|PATCH)_VERSION[ \t]+(\d+)")

_INLINE = re.compile(r"\b(Register_\w+)\s*\(\s*\)\s*\{")

_LIMIT_BYTES = 8 * 1024 * 1024
_LIMIT_FILES = 5000
_GENERATED = "operators.inc"
_UPSTREAM = f"{_MICRO}/tools/make/downloads"
_ESPRESSIF = "managed_components/espressif__esp-tflite-micro"
# By the first part of the name in the #include.
_USUALLY_IN: Mapping[str, tuple[str, ...]] = {
    "tensorflow": ("the folder that `tensorflow/` lies in", _ESPRESSIF),
    "signal": ("the folder that `tensorflow/` lies in", _ESPRESSIF),
    "flatbuffers": (f"{_UPSTREAM}/flatbuffers/include", f"{_ESPRESSIF}/third_party/flatbuffers/include"),
    "fixedpoint": (f"{_UPSTREAM}/gemmlowp", f"{_ESPRESSIF}/third_party/gemmlowp"),
    "ruy": (f"{_UPSTREAM}/ruy", f"{_ESPRESSIF}/third_party/ruy"),
}


@dataclass(frozen=True)
class Headers:
    """The headers that a firmware reads.

    Attributes:
        generation: of TFLM.
        traits: those of the generation's that they show.
        logs_plain_text: whether DebugLog takes a text (before 2023-07-06), and not a format with its arguments.
        forced_defines: what they act as if it were defined, whether it is or not.
        asks_for_arduino: whether their kernels have static memory only with ARDUINO defined.
        operators: that they declare.
        hash: SHA-256 over all of them, those included.
        schema_version: of the models that this TFLM reads; None when they do not say.
        version: TensorFlow's, where they say it.
        inline: functions `Register_…` that they define, so that no library needs to.
        missing: for each header that is not there, the one that includes it.
    """

    generation: str
    traits: frozenset[str]
    logs_plain_text: bool
    forced_defines: Mapping[str, None]
    asks_for_arduino: bool
    operators: HeaderOperators
    hash: str
    schema_version: int | None
    version: str | None
    inline: frozenset[str]
    missing: Mapping[str, str]

    @property
    def layer_defines(self) -> Mapping[str, str | None]:
        """What the firmware's layer has to be told of them."""
        return {"HARNESS_LOGS_PLAIN_TEXT": None} if self.logs_plain_text else {}


def read_headers(folders: Sequence[Path], generation: str | None) -> Headers:
    """Read the headers that the firmware's layer for their generation includes, and all that these include.

    Args:
        folders: the include folders, in order.
        generation: which one the user says it is; None to find out.

    Raises:
        SourceError: they are of no generation that harness knows, or of another than the user says.
    """
    found = recognise_generation(folders, generation)
    memory = _texts(folders, static_memory.HEADERS)
    texts, missing = _read_all(firmware_dir() / "tflm" / f"{found.layer}.cc", folders)
    return Headers(
        found.name,
        _traits(folders, found),
        found.name != FIRST and _VARIABLE_ARGUMENTS.search(_text(folders, _DEBUG_LOG)) is None,
        static_memory.forced_defines(memory),
        static_memory.asks_for_arduino(memory),
        _operators(folders, found.name),
        fingerprint(*(part for name in sorted(texts) for part in (name, texts[name]))),
        _schema_version(texts),
        _tf_version(texts),
        frozenset(name for text in texts.values() for name in _INLINE.findall(text)),
        missing,
    )


def missing_header(name: str, included_by: str) -> SourceError:
    """The error for a header that is not there."""
    places = _USUALLY_IN.get(PurePosixPath(name).parts[0], ())
    return SourceError(
        f"the header {name} is missing",
        where=included_by,
        expected="in one of the folders of `include`",
        hint=f"it is usually in {' or in '.join(places)}" if places else "add its folder to `include`",
    )


def recognise_generation(folders: Sequence[Path], claimed: str | None) -> TflmGeneration:
    """The generation whose marks headers have: the first in the table.

    Args:
        folders: the include folders.
        claimed: which one the user says it is; None when they say nothing.

    Raises:
        SourceError: they are of none that harness serves, or of another than the user says.
    """
    texts = _texts(folders, sorted({header for each in GENERATIONS for mark in each.marks for header in mark.headers}))
    found = next((each for each in GENERATIONS if all(mark.holds(texts) for mark in each.marks)), None)
    where = place_of(folders)
    forks.refuse_fork(_texts(folders, forks.HEADERS), where, found)
    if found is None:
        raise _unrecognised(folders, where)
    if found.refused:
        raise SourceError(
            f"these are headers of TFLM {found.name}, which harness does not serve",
            where=where,
            measured=", ".join(mark.what for mark in found.marks),
            expected=f"one of {', '.join(each.name for each in served())}",
            hint=found.refused,
        )
    if claimed is not None and canonical(claimed) != found.name:
        raise SourceError(
            f"these are headers of TFLM {found.name}, and not of {canonical(claimed)}",
            where=where,
            measured=", ".join(mark.what for mark in found.marks),
            expected=_looked_for(canonical(claimed)),
            hint="correct `generation` in the manifest, or leave it out",
        )
    return found


def place_of(folders: Sequence[Path]) -> str:
    """Include folders, for messages."""
    return f"{folders[0]} and {len(folders) - 1} more" if len(folders) > 1 else str(folders[0])


def _traits(folders: Sequence[Path], found: TflmGeneration) -> frozenset[str]:
    shown = (each.name for each in found.traits if each.mark and each.mark.holds(_texts(folders, each.mark.headers)))
    return frozenset(shown) | forks.fork_traits(_texts(folders, forks.HEADERS), found)


def _looked_for(name: str) -> str:
    entry = generation_named(name)
    return ", ".join(mark.what for mark in entry.marks) if entry else name


def _unrecognised(folders: Sequence[Path], where: str) -> SourceError:
    prefixed = f"{forks.EDGE_IMPULSE}/tensorflow"
    if any((folder / prefixed).is_dir() for folder in folders):
        return forks.edge_impulse(where, f"a folder {prefixed}")
    is_there = any((folder / _MICRO).is_dir() for folder in folders)
    return SourceError(
        "these are no headers of a TFLM that harness knows",
        where=where,
        measured="none of their marks: " + "; ".join(f"{each.name}: {_looked_for(each.name)}" for each in served())
        if is_there
        else f"no folder {_MICRO} in them",
        hint=f"`include` has to name {_USUALLY_IN['tensorflow'][0]}",
    )


def _operators(folders: Sequence[Path], generation: str) -> HeaderOperators:
    if generation == FIRST:
        return micro_ops_operators(_text(folders, _MICRO_OPS), _text(folders, _SCHEMA))
    return resolver_operators(_text(folders, _RESOLVER))


def _texts(folders: Sequence[Path], names: Sequence[str]) -> dict[str, str]:
    """The headers that are there, without their comments."""
    return {name: _text(folders, name) for name in names if _find(folders, name) is not None}


def _text(folders: Sequence[Path], name: str) -> str:
    """A header without its comments; nothing when it is not there."""
    path = _find(folders, name)
    return without_comments(_read(path)) if path else ""


def _find(folders: Sequence[Path], name: str) -> Path | None:
    return next((folder / name for folder in folders if (folder / name).is_file()), None)


def _read(path: Path) -> str:
    return read_bounded(path, _LIMIT_BYTES, SourceError).decode("utf-8", "replace")


def _read_all(layer: Path, folders: Sequence[Path]) -> tuple[Mapping[str, str], Mapping[str, str]]:
    """The headers that a layer of the firmware needs, by name, and the ones that are not there, with who needs them.

    Whatever follows an `#if` is read as well, for the hash; only what no `#if` excuses can be missing. Names in angle
    brackets may be the compiler's own.
    """
    firmware = layer.parent.parent
    texts: dict[str, str] = {}
    missing: dict[str, str] = {}
    # Those without excuse are all read before those with one: what they need, they need without excuse.
    needed, excused = deque([layer]), deque[Path]()
    read: set[Path] = set()
    while needed or excused:
        is_excused = not needed
        path = (needed or excused).popleft()
        if path.resolve() in read:  # resolved: `..` gives a header another name each time that it includes itself
            continue
        read.add(path.resolve())
        if len(read) > _LIMIT_FILES:  # some left out would be missing in the hash
            raise SourceError("these are too many headers", where=path, expected=f"at most {_LIMIT_FILES:,}")
        texts[_name(path, folders)] = text = _read(path)
        for include in includes(without_comments(text)):
            found = _resolve(include, path, (firmware, *folders))
            may_lack = is_excused or include.conditional
            if found is not None:
                (excused if may_lack else needed).append(found)
            elif include.quoted and not may_lack:
                missing.setdefault(include.name, str(path))
    missing.pop(_GENERATED, None)
    return texts, missing


def _resolve(include: Include, includer: Path, folders: Sequence[Path]) -> Path | None:
    if include.quoted and (includer.parent / include.name).is_file():
        return includer.parent / include.name
    return _find(folders, include.name)


def _name(path: Path, folders: Sequence[Path]) -> str:
    """A header's name without this machine's folders; the same name may be in two of them."""
    inside = [(number, folder) for number, folder in enumerate(folders) if path.is_relative_to(folder)]
    return f"{inside[0][0]}/{path.relative_to(inside[0][1]).as_posix()}" if inside else path.name


def _schema_version(texts: Mapping[str, str]) -> int | None:
    found = next((match for text in texts.values() if (match := _SCHEMA_VERSION.search(text))), None)
    return int(found[1][:9]) if found else None


def _tf_version(texts: Mapping[str, str]) -> str | None:
    parts = {name: number for text in texts.values() for name, number in _TF_VERSION.findall(text)}
    names = ("MAJOR", "MINOR", "PATCH")
    return ".".join(parts[name] for name in names) if all(name in parts for name in names) else None
