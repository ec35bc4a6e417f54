"""Source trees in the layouts in which people have TFLM, made of the TFLM of the tests, or of empty files."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests.support.fake_tflm import HEADERS

MICRO = "tensorflow/lite/micro"
FLATBUFFERS_VERSION = "25.9.23"


@dataclass(frozen=True)
class Made:
    """How a layout looks.

    Attributes:
        name: that harness gives it.
        root: where `tensorflow/` lies.
        third_party: where the other projects' folders lie, relative to that.
        files: what else there is, relative to the top.
        suffix: of C++ sources.
    """

    name: str
    root: str
    third_party: str
    files: Mapping[str, str] = field(default_factory=dict)
    suffix: str = ".cc"


LAYOUTS = {
    "upstream": Made(
        "tflite-micro checkout", ".", f"{MICRO}/tools/make/downloads", {f"{MICRO}/tools/make/Makefile": ""}
    ),
    "esp-idf": Made("ESP-IDF component", ".", "third_party", {"idf_component.yml": 'version: "1.3.3~1"\n'}),
    "arduino": Made("Arduino library", "src", "third_party", {"library.properties": "version=2.0.0\n"}, ".cpp"),
    "zephyr": Made("Zephyr module", ".", "third_party_static", {"zephyr/module.yml": ""}),
    "pico": Made("pico-tflmicro", "src", "third_party", {"CMakeLists.txt": "project(pico-tflmicro C CXX)"}, ".cpp"),
    "generated": Made("generated tree", ".", "third_party"),
}


def source_tree(folder: Path, layout: str) -> Path:
    """Lay the TFLM of the tests out as one of LAYOUTS does; returns `folder`."""
    made = LAYOUTS[layout]
    root = folder / made.root
    shutil.copytree(HEADERS, root, dirs_exist_ok=True)
    for source in [*root.rglob("*.cc")]:
        source.rename(source.with_suffix(made.suffix))
    for name, text in made.files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    third_party(root / made.third_party)
    return folder


def third_party(home: Path) -> None:
    """The other projects' headers, as empty as the TFLM of the tests can do with."""
    major, minor, revision = FLATBUFFERS_VERSION.split(".")
    version = f"#define FLATBUFFERS_VERSION_MAJOR {major}\n#define FLATBUFFERS_VERSION_MINOR {minor}\n"
    for name, text in {
        "flatbuffers/include/flatbuffers/flatbuffers.h": '#include "flatbuffers/base.h"\n',
        "flatbuffers/include/flatbuffers/base.h": f"{version}#define FLATBUFFERS_VERSION_REVISION {revision}\n",
        "gemmlowp/fixedpoint/fixedpoint.h": "",
        "ruy/ruy/profiler/instrumentation.h": "",
    }.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(text)


def add_overlay(folder: Path, layout: str, overlay: str, *kernels: str) -> None:
    """Kernels that stand in for reference kernels, as empty files."""
    made = LAYOUTS[layout]
    for kernel in kernels:
        path = folder / made.root / MICRO / "kernels" / overlay / f"{kernel}{made.suffix}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
