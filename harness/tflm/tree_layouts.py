"""Table of the folder layouts in which people have TFLM's sources, and how each is recognised.

From the projects' own build files: tflite-micro's Makefile, CMakeLists.txt of esp-tflite-micro and pico-tflmicro,
modules/tflite-micro/CMakeLists.txt of Zephyr, the library specification of the Arduino IDE.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from harness.domain.firmware import STATIC_MEMORY
from harness.errors import SourceError

MICRO = "tensorflow/lite/micro"
DOWNLOADS = f"{MICRO}/tools/make/downloads"

# Where `tensorflow/` lies below the folder that a user names.
_ROOTS = (
    ".",
    "src",
    "submodules/tensorflow",
    "managed_components/*esp-tflite-micro",
    "components/*esp-tflite-micro",
    "components/tflite-lib/tflite-micro",
    "modules/lib/tflite-micro",
    "optional/modules/lib/tflite-micro",
)
_HEADERS = (f"{MICRO}/micro_interpreter.h", f"{MICRO}/micro_allocator.h", "tensorflow/lite/schema/schema_generated.h")
_SOURCES = (f"{MICRO}/micro_interpreter", f"{MICRO}/micro_allocator")
SOURCE_SUFFIXES = (".cc", ".cpp", ".c")


@dataclass(frozen=True)
class TreeLayout:
    """A way to lay TFLM's sources out.

    Attributes:
        name: what people call it.
        marks: paths relative to `tensorflow/`'s folder, of which one is there; the first layout that has one is meant.
        defines: what its own build defines, as far as the headers depend on it.
        own_kernels: the kernel set that its own build takes; empty for the reference kernels.
    """

    name: str
    marks: tuple[str, ...]
    defines: Mapping[str, str | None] = field(default_factory=lambda: {STATIC_MEMORY: None})
    own_kernels: str = ""


LAYOUTS: tuple[TreeLayout, ...] = (
    # The Arduino IDE gives a library no way to define anything.
    TreeLayout("Arduino library", ("../library.properties",), defines={}),
    TreeLayout(
        "pico-tflmicro",
        ("../pico_sdk_import.cmake", "../CMakeLists.txt~pico-tflmicro"),
        # Its headers know static memory only under the Arduino IDE's own define.
        {STATIC_MEMORY: "1", "ARDUINO": "1"},
        "cmsis-nn",
    ),
    TreeLayout(
        "ESP-IDF component",
        ("idf_component.yml", "CMakeLists.txt~idf_component_register", "../CMakeLists.txt~idf_component_register"),
        own_kernels="esp-nn",
    ),
    TreeLayout("Zephyr module", ("zephyr/module.yml", "third_party_static")),
    TreeLayout("tflite-micro checkout", (f"{MICRO}/tools/make/Makefile", "ci/sync_from_upstream_tf.sh")),
    TreeLayout("TensorFlow checkout", ("tensorflow/lite/interpreter.h",)),
    TreeLayout("generated tree", ("third_party", MICRO)),
)
"""The first that fits counts. A generated tree is what tools/project_generation of tflite-micro writes."""


@dataclass(frozen=True)
class Tree:
    """A source tree that was recognised.

    Attributes:
        folder: what the user named.
        root: the folder that `tensorflow/` lies in.
        layout: which it is.
    """

    folder: Path
    root: Path
    layout: TreeLayout


def recognise(folder: Path) -> Tree:
    """Find TFLM's sources in a folder.

    Raises:
        SourceError: it holds none, more than one, or only a part of them.
    """
    if not folder.is_dir():
        raise SourceError("there is no such folder", where=folder, hint="name the folder that TFLM's sources lie in")
    roots = _roots(folder)
    if not roots:
        raise SourceError(
            "the folder holds no TFLM sources",
            where=folder,
            measured=f"no {MICRO} in it, nor in {', '.join(_ROOTS[1:])}",
            expected="a checkout of tflite-micro, an ESP-IDF component, an Arduino library, a Zephyr module, "
            "or pico-tflmicro",
            hint="name the folder that `tensorflow/` lies in",
        )
    if len(roots) > 1:
        raise SourceError(
            "the folder holds several TFLM source trees",
            where=folder,
            measured=", ".join(str(root.relative_to(folder.resolve())) for root in roots),
            hint="name the one that is meant",
        )
    _check_complete(roots[0])
    return Tree(folder, roots[0], _layout_of(roots[0]))


def _roots(folder: Path) -> list[Path]:
    found = (path for pattern in _ROOTS for path in ([folder] if pattern == "." else sorted(folder.glob(pattern))))
    return list(dict.fromkeys(path.resolve() for path in found if (path / MICRO).is_dir()))


def _layout_of(root: Path) -> TreeLayout:
    return next(layout for layout in LAYOUTS if any(_has_mark(root, mark) for mark in layout.marks))


def _has_mark(root: Path, mark: str) -> bool:
    """Whether a path is there; behind a ~ stands what its file has to hold."""
    name, _, text = mark.partition("~")
    path = root / name
    if not text:
        return path.exists()
    return path.is_file() and text in path.read_text("utf-8", "replace")


def _check_complete(root: Path) -> None:
    lacking = [name for name in _HEADERS if not (root / name).is_file()]
    lacking += [f"{stem}.cc" for stem in _SOURCES if not has_source(root, stem)]
    if not any(path.suffix in SOURCE_SUFFIXES for path in (root / MICRO / "kernels").glob("*.c*")):
        lacking.append(f"sources in {MICRO}/kernels")
    if lacking:
        raise SourceError(
            "the source tree is not complete",
            where=root,
            measured=f"without {', '.join(lacking)}",
            hint="check it out whole: git sparse-checkout disable, or a copy of the release",
        )


def has_source(root: Path, stem: str) -> bool:
    """Whether there is a source of this name, whatever its suffix: the Arduino IDE wants `.cpp`."""
    return any((root / f"{stem}{suffix}").is_file() for suffix in SOURCE_SUFFIXES)
