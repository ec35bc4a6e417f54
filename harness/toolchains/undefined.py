"""What it means when a linker finds no definition of a symbol: mostly that a library was compiled with other flags."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.errors import BuildError

_UNDEFINED = re.compile(r"undefined reference to `(?P<symbol>[^'\n]+)'")
# `ld: libtflm.a(conv.o): in function …`, or the same without a function.
_OBJECT = re.compile(r"(?:^|: )(?P<object>[^:\n]+(?:\.o|\.a\([^()\n]+\))):", re.MULTILINE)
_TRACED = re.compile(rf"{_OBJECT.pattern} reference to (?P<symbol>\S+)$", re.MULTILINE)
_SHOWN = 5


@dataclass(frozen=True)
class _Cause:
    """Why symbols are undefined.

    Attributes:
        symbols: which, as the linker writes them.
        hint: what to do.
        users: the symbols, mangled, that the objects to blame use; the undefined ones are wanted by the compiler's own
            libraries only.
    """

    symbols: re.Pattern[str]
    hint: str
    users: tuple[str, ...] = ()


_CAUSES = (
    _Cause(
        re.compile(r"std::.*"),
        "these operators use the C++ library, which this compiler lacks: leave them out with --ops used, or have "
        "Espressif's xtensa-esp32-elf-g++ on PATH",
    ),
    _Cause(
        re.compile(r"__exidx_(start|end)|__gxx_personality_v0|__cxa_(?!guard|pure)\w+|_Unwind_\w+|__aeabi_unwind\w+"),
        "these objects are compiled with exceptions: compile all of the library with -fno-exceptions",
        users=("__gxx_personality_v0", "__cxa_throw"),
    ),
    _Cause(
        re.compile(r"_sbrk|_malloc_r|malloc|calloc|realloc|free|operator (new|delete)\b.*"),
        "this wants a heap, and the firmware has none: compile all of the library with -DNDEBUG -ffunction-sections "
        "-fdata-sections, so that what is never called is left out, or with -DTF_LITE_STATIC_MEMORY",
        users=("malloc", "calloc", "realloc", "_Znwj", "_Znaj", "_ZdlPv", "_ZdlPvj", "_ZdaPv", "_ZdaPvj"),
    ),
    _Cause(
        re.compile(r"(vtable|typeinfo)\b.* for __cxxabiv1::.*"),
        "these objects are compiled with type information: compile all of the library with -fno-rtti",
    ),
    _Cause(
        re.compile(r"__cxa_guard_\w+"),
        "these objects lock their static variables: compile all of the library with -fno-threadsafe-statics",
    ),
    _Cause(
        re.compile(r"TfLite\w+"),
        "the library lacks tensorflow/lite/c/common.c, in newer releases tensorflow/lite/core/c/common.cc",
    ),
    _Cause(re.compile(r"arm_\w+"), "CMSIS-NN is missing: add its library to `libraries`"),
    _Cause(re.compile(r"esp_nn_\w+"), "ESP-NN is missing: add its library to `libraries`"),
    _Cause(
        re.compile(r"DebugLog|DebugVsnprintf|GetCurrentTimeTicks|ticks_per_second"),
        "an application or a port of TFLM defines it: compile TFLM's debug_log.cc or micro_time.cc into the library",
    ),
    _Cause(
        re.compile(r"Micro\w+.*|(.* for )?tflite::.*"),
        "the library lacks a source of TFLM, or headers and library are of different releases",
    ),
)

TRACE_FLAGS = tuple(f"-Wl,--trace-symbol={symbol}" for cause in _CAUSES for symbol in cause.users)
"""Flags with which the linker tells who uses what only objects to blame use."""


def are_undefined(stderr: str) -> bool:
    """Whether the linker says that it misses symbols."""
    return _UNDEFINED.search(stderr) is not None


def undefined_symbols(stderr: str, target: Path) -> BuildError:
    """The error for symbols that are nowhere defined.

    Args:
        stderr: what the linker said with TRACE_FLAGS.
        target: what was to be linked; objects beside it are passing ones, and are told without their folder.
    """
    symbols = sorted({found["symbol"] for found in _UNDEFINED.finditer(stderr)})
    cause = next((each for each in _CAUSES if any(each.symbols.fullmatch(symbol) for symbol in symbols)), None)
    more = ", …" if len(symbols) > _SHOWN else ""
    user = _user(stderr, cause.users if cause else ()) or _first_to_miss(stderr) or target.name
    return BuildError(
        f"undefined symbols: {', '.join(symbols[:_SHOWN])}{more}",
        where=user.removeprefix(f"{target.parent}/"),
        hint=cause.hint if cause else "",
    )


def _user(stderr: str, symbols: Sequence[str]) -> str:
    """The first object that uses one of the symbols; the compiler's own libraries come last."""
    return next((found["object"] for found in _TRACED.finditer(stderr) if found["symbol"] in symbols), "")


def _first_to_miss(stderr: str) -> str:
    """The object that the linker names last before the first symbol that it misses."""
    before = _UNDEFINED.split(stderr, maxsplit=1)[0]
    found = [match["object"] for match in _OBJECT.finditer(before)]
    return found[-1] if found else ""
