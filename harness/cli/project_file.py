"""The project file `harness.toml`: what the options of all commands default to in a folder and below it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import click

from harness.errors import UsageError
from harness.files.fields import Fields
from harness.files.toml import read_toml, refuse_unknown_keys

NAME = "harness.toml"
_HINT = "harness config --help lists the keys"
_MOST_PERCENT = 1000


@dataclass(frozen=True)
class ProjectFile:
    """What a project file says.

    Attributes:
        path: the file.
        values: by key; paths are made absolute.
    """

    path: Path
    values: Mapping[str, object]


@dataclass(frozen=True)
class ProjectKey:
    """A key of the project file.

    Attributes:
        name: of the key, and of the option without its dashes.
        parameter: the option's name among a command's parameters.
        about: what it sets.
    """

    name: str
    parameter: str
    about: str


KEYS: tuple[ProjectKey, ...] = (
    ProjectKey("board", "board", "board id, or the path of a board file"),
    ProjectKey("tflm", "tflm", "a generation or provider, the folder of TFLM's sources, or the path of a manifest"),
    ProjectKey("kernels", "kernels", "kernel set: reference, cmsis-nn, esp-nn"),
    ProjectKey("include", "include", "list of further include folders for TFLM's sources"),
    ProjectKey("cmsis_nn", "cmsis_nn", "folder of CMSIS-NN's sources"),
    ProjectKey("esp_nn", "esp_nn", "folder of ESP-NN's sources"),
    ProjectKey("margin", "margin_percent", "percent to add to the recommended arena"),
    ProjectKey("store", "store", "path of the results database"),
    ProjectKey("bench", "bench", "path of the bench file"),
)


def find_project_file(start: Path) -> Path | None:
    """The nearest `harness.toml` in a folder or above it; None without one."""
    return next((path for folder in (start, *start.parents) if (path := folder / NAME).is_file()), None)


def read_project_file(path: Path) -> ProjectFile:
    """Read a project file.

    Raises:
        UsageError: it cannot be read, is no TOML, or a key is unknown or of the wrong kind.
    """
    top = read_toml(path, _HINT)
    refuse_unknown_keys(top, [key.name for key in KEYS])
    folder = path.absolute().parent
    return ProjectFile(path, {key.name: _value(top, key.name, folder) for key in KEYS if top.has(key.name)})


def defaults_for(command: click.Command, file: ProjectFile) -> dict[str, object]:
    """Click's default map for a command, and for the commands below it."""
    if isinstance(command, click.Group):
        return {name: defaults_for(below, file) for name, below in command.commands.items()}
    return dict(_defaults(command, file))


def _defaults(command: click.Command, file: ProjectFile) -> Iterator[tuple[str, object]]:
    parameters = {parameter.name: parameter for parameter in command.params if isinstance(parameter, click.Option)}
    for key in KEYS:
        parameter = parameters.get(key.parameter)
        if parameter is None or key.name not in file.values:
            continue
        value = file.values[key.name]
        yield key.parameter, [value] if parameter.multiple and not isinstance(value, list) else value


def _value(top: Fields, key: str, folder: Path) -> object:
    match key:
        case "margin":
            return top.number(key, 0, _MOST_PERCENT)
        case "include":
            return [str(folder / name) for name in top.texts(key)]
        case "kernels":
            return _text(top, key)
        case "board" | "tflm":
            return _named(_text(top, key), folder)
        case _:
            return str(folder / _text(top, key))


def _text(top: Fields, key: str) -> str:
    text = top.text(key)
    if not text or "\0" in text:
        raise UsageError("the text is empty, or holds a zero byte", where=f"{top.place}: {key}", hint=_HINT)
    return text


def _named(text: str, folder: Path) -> str:
    """A name as it is; a path relative to the file, so that it means the same from everywhere."""
    is_path = "/" in text or text.endswith(".toml") or (folder / text).is_dir()
    return str(folder / Path(text).expanduser()) if is_path else text
