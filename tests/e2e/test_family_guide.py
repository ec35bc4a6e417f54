"""The guide to a new family, firmware/README.md, followed to the letter."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

import harness.build.inputs
from harness.bench.boards import load_board
from harness.errors import PluginError
from harness.estimate import read_model
from harness.files.resources import firmware_dir
from harness.session import RunOptions, open_session

pytestmark = pytest.mark.slow

# A line that begins with a file's path, and the first block of code behind it.
_FILE = re.compile(r"^`((?:firmware|harness|boards)/[\w./-]+)`[^\n]*:\n\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_ENTRY_POINT = re.compile(r"^mini = \"harness\.families\.mini:family\"$", re.MULTILINE)


@pytest.fixture(scope="module")
def guide() -> str:
    return (firmware_dir() / "README.md").read_text(encoding="utf-8")


@pytest.fixture
def checkout(guide, tmp_path, monkeypatch) -> Path:
    """A copy of the firmware with the guide's files, and the plug-in as a package of its own."""
    shutil.copytree(firmware_dir(), tmp_path / "firmware")
    for name, text in _FILE.findall(guide):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    monkeypatch.setattr(harness.build.inputs, "firmware_dir", lambda: tmp_path / "firmware")
    return tmp_path


def plug_in(checkout: Path, guide: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What installing the package anew would do."""
    assert _ENTRY_POINT.search(guide)
    module = checkout / "harness/families/mini.py"
    module.rename(checkout / "mini_family.py")
    description = checkout / "mini-1.0.dist-info"
    description.mkdir()
    (description / "METADATA").write_text("Metadata-Version: 2.1\nName: mini\nVersion: 1.0\n")
    (description / "entry_points.txt").write_text("[harness.families]\nmini = mini_family:family\n")
    monkeypatch.syspath_prepend(checkout)


def test_the_guide_has_every_file(guide):
    assert [name for name, _ in _FILE.findall(guide)] == [
        *(f"firmware/ports/mini/{name}" for name in ("port.toml", "linker.ld", "vector_table.cc", "board.cc")),
        "harness/families/mini.py",
        "boards/mini-virtual.toml",
    ]


def test_a_model_runs_on_the_family_of_the_guide(checkout, guide, monkeypatch, example):
    pytest.importorskip("unicorn", reason="the extra `virtual` is not installed")
    plug_in(checkout, guide, monkeypatch)
    board = load_board(str(checkout / "boards/mini-virtual.toml"))
    with open_session(board, RunOptions(), lambda *_: None) as session:
        row = session.run(read_model(example("hello_world.tflite")))
    assert row.verdict == "ok", row.causes
    assert row.measurement.clock_hz == 16_000_000


def test_without_its_plug_in_the_family_is_refused(checkout):
    board = load_board(str(checkout / "boards/mini-virtual.toml"))
    with pytest.raises(PluginError, match="'mini'"), open_session(board, RunOptions(), lambda *_: None):
        pass
