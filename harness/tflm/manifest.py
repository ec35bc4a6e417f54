"""The manifest of a TFLM that somebody else has built: a small TOML file beside it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from harness.domain.generations import served
from harness.domain.tflm_options import SOURCE_KERNELS, TflmOptions
from harness.errors import UsageError
from harness.files.fields import Fields
from harness.files.toml import read_toml, refuse_unknown_keys

KERNEL_SETS = ("reference", "cmsis-nn", "esp-nn", "esp-nn-s3")
_TREE_KEYS = ("tree", "cmsis_nn", "esp_nn")
_AUTO = "auto"
_LIBRARY_SUFFIX = ".a"
_KEYS = ("generation", "include", "libraries", "defines", "kernels", "abi_flags", "version", *_TREE_KEYS)
_HINT = "README.md, section `Use your TFLM`, shows manifests"
_NN_VERSION = re.compile(r"v?\d{1,3}(\.\d{1,3}){0,2}([-~+.]\w{1,16})?|[0-9a-f]{7,40}", re.ASCII)
_DEFINE = re.compile(r"[A-Za-z_]\w*", re.ASCII)


@dataclass(frozen=True)
class Manifest:
    """What a manifest says.

    Attributes:
        path: the manifest itself; paths in it are relative to its folder.
        generation: of TFLM; None to find out from the headers.
        include: folders of headers, in the order in which they are searched.
        libraries: static libraries.
        defines: preprocessor symbols that the libraries were compiled with, and that change what the headers declare.
        kernels: the kernel set, one of KERNEL_SETS.
        abi_flags: compiler flags of the libraries' ABI; None for the board's.
        version: what people call it; empty for none.
        tree: the folder of sources to compile, in place of libraries; None for libraries.
        options: what else is said of the tree.
        says_defines: whether it says `defines` at all.
        cmsis_nn, esp_nn: beside libraries, the version of what their kernels call, or its commit; empty for the one
            that the generation goes with. No estimate depends on it: what the kernels for the DSP extension and for the
            ESP32 get from them is the same since 2022 once it is rounded up to 16 bytes, as TFLM does; for the ESP32-S3
            there is an allowance.
    """

    path: Path
    generation: str | None
    include: tuple[Path, ...]
    libraries: tuple[Path, ...]
    defines: Mapping[str, str | None]
    kernels: str
    abi_flags: tuple[str, ...] | None
    version: str
    tree: Path | None = None
    options: TflmOptions = field(default_factory=TflmOptions)
    says_defines: bool = False
    cmsis_nn: str = ""
    esp_nn: str = ""

    @property
    def nn_library(self) -> str:
        """The library that the kernels call, where its version is named."""
        named = {"CMSIS-NN": self.cmsis_nn, "ESP-NN": self.esp_nn}
        return ", ".join(f"{library} {version}" for library, version in named.items() if version)


def read_manifest(path: Path) -> Manifest:
    """Read a manifest.

    Raises:
        UsageError: it cannot be read, is no TOML, or a key is missing, unknown or of the wrong kind.
    """
    with suppress(OSError):  # which reading it will tell
        if path.is_fifo():  # to open one waits until somebody writes into it
            raise UsageError("this is no regular file", where=path, hint=_HINT)
        if path.is_dir() or path.suffix == _LIBRARY_SUFFIX:
            raise UsageError(
                "this is no manifest",
                where=path,
                measured="a folder" if path.is_dir() else "a library",
                expected="a .toml file that names the library and its headers",
                hint=_HINT,
            )
    top = read_toml(path, _HINT)
    refuse_unknown_keys(top, _KEYS)
    if top.has("tree"):
        return _of_tree(top, path)
    generation = _choice(
        top, "generation", (_AUTO, *(name for each in served() for name in (each.name, *each.aliases)))
    )
    return Manifest(
        path=path,
        generation=None if generation == _AUTO else generation,
        include=_paths(top, "include", path.parent),
        libraries=_paths(top, "libraries", path.parent),
        defines=dict(_define(top, text) for text in _texts(top, "defines")) if top.has("defines") else {},
        kernels=_choice(top, "kernels", KERNEL_SETS),
        abi_flags=_flags(top, "abi_flags") if top.has("abi_flags") else None,
        version=top.text("version") if top.has("version") else "",
        cmsis_nn=_nn_version(top, "cmsis_nn"),
        esp_nn=_nn_version(top, "esp_nn"),
    )


def _nn_version(top: Fields, key: str) -> str:
    """The version of the library that kernels call; empty when the key is not there."""
    if not top.has(key):
        return ""
    kernels = key.replace("_", "-")
    if not _choice(top, "kernels", KERNEL_SETS).startswith(kernels):
        raise top.wrong(key, f'none without `tree` or kernels = "{kernels}"')
    if not _NN_VERSION.fullmatch(top.text(key)):
        raise top.wrong(key, "a version such as 7.0.0, or a commit; a folder goes with `tree`")
    return top.text(key)


def _of_tree(top: Fields, path: Path) -> Manifest:
    """A manifest that names a folder of sources."""
    for key in ("libraries", "abi_flags", "generation"):
        if top.has(key):
            raise UsageError(f"`{key}` goes with libraries, and not with `tree`", where=path, hint=_HINT)
    kernels = _choice(top, "kernels", SOURCE_KERNELS) if top.has("kernels") else None
    options = TflmOptions(
        kernels=kernels,
        include=_paths(top, "include", path.parent) if top.has("include") else (),
        cmsis_nn=_path(top, "cmsis_nn", path.parent) if top.has("cmsis_nn") else None,
        esp_nn=_path(top, "esp_nn", path.parent) if top.has("esp_nn") else None,
    )
    return Manifest(
        path=path,
        generation=None,
        include=options.include,
        libraries=(),
        defines=dict(_define(top, text) for text in _texts(top, "defines")) if top.has("defines") else {},
        kernels=kernels or SOURCE_KERNELS[0],
        abi_flags=None,
        version=top.text("version") if top.has("version") else "",
        tree=_path(top, "tree", path.parent),
        options=options,
        says_defines=top.has("defines"),
    )


def _path(top: Fields, key: str, folder: Path) -> Path:
    name = top.text(key)
    if not name or "\0" in name:
        raise top.wrong(key, "a path")
    return _resolved(folder, name, top, key)


def _choice(top: Fields, key: str, choices: tuple[str, ...]) -> str:
    """One of `choices`; the first when the key is not there."""
    if not top.has(key):
        return choices[0]
    if top.text(key) not in choices:
        raise top.wrong(key, f"one of {', '.join(choices)}")
    return top.text(key)


def _texts(top: Fields, key: str) -> tuple[str, ...]:
    value = top.values.get(key)
    if isinstance(value, str):
        raise replace(top, hint=f"put it in brackets: {key} = [{json.dumps(value)}]").wrong(key, "a list of texts")
    return top.texts(key)


def _paths(top: Fields, key: str, folder: Path) -> tuple[Path, ...]:
    names = _texts(top, key)
    if not names or not all(names) or any("\0" in name for name in names):
        raise top.wrong(key, "a list of one path or more")
    return tuple(_resolved(folder, name, top, key) for name in names)


def _resolved(folder: Path, name: str, top: Fields, key: str) -> Path:
    try:
        return (folder / Path(name).expanduser()).resolve()
    except RuntimeError as error:  # no such user after a ~, or symbolic links in a circle
        raise UsageError(f"a path leads nowhere: {error}", where=f"{top.place}: {key}", hint=_HINT) from error


def _flags(top: Fields, key: str) -> tuple[str, ...]:
    """Flags of a compiler. Whatever else it takes is a file to it, whose content no key in the cache depends on."""
    flags = _texts(top, key)
    if any(not flag.startswith("-") or "\0" in flag for flag in flags):
        raise top.wrong(key, "a list of compiler flags, each with its -")
    return flags


def _define(top: Fields, text: str) -> tuple[str, str | None]:
    name, equals, value = text.partition("=")
    if not _DEFINE.fullmatch(name) or "\0" in value:
        where = f"{top.place}: defines"
        raise UsageError(f"{text!r} is no define", where=where, expected="NAME or NAME=value", hint=_HINT)
    return name, value if equals else None
