"""The notes of what changed, and the script that makes a release of them."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from harness import __version__
from tests.support.places import CHECKOUT

CHANGES = CHECKOUT / ".changes"
SCRIPT = ".setup/release.sh"


def test_the_newest_release_is_the_version() -> None:
    releases = [path.stem for path in CHANGES.glob("20*.md")]
    newest = max(releases, key=lambda release: [int(part) for part in release.split(".")])
    assert newest == __version__


@pytest.mark.parametrize("notes", sorted(CHANGES.glob("20*.md")), ids=lambda path: path.stem)
def test_the_notes_of_a_release_are_a_list_under_its_name(notes: Path) -> None:
    assert notes.read_text(encoding="utf-8").startswith(f"# {notes.stem}\n\n- ")


def test_each_change_since_is_a_list_item() -> None:
    for change in (CHANGES / "next").glob("*.md"):
        lines = change.read_text(encoding="utf-8").splitlines()
        assert lines[0].startswith("- "), change.name
        assert all(line.startswith(("- ", "  ")) for line in lines), change.name


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """What the script works on, with two changes."""
    for place in (SCRIPT, "harness/__init__.py"):
        (tmp_path / place).parent.mkdir()
        shutil.copy(CHECKOUT / place, tmp_path / place)
    (tmp_path / ".changes" / "next").mkdir(parents=True)
    for name, text in (("b.md", "- b is new\n"), ("a.md", "- a is other\n  than before\n")):
        (tmp_path / ".changes" / "next" / name).write_text(text, encoding="utf-8")
    return tmp_path


def release(project: Path, *version: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run((project / SCRIPT, *version), capture_output=True, text=True, check=False)


def test_a_release_takes_all_changes_and_sets_the_version(project: Path) -> None:
    ended = release(project, "2099.1.0")
    assert ended.returncode == 0, ended.stderr
    notes = (project / ".changes" / "2099.1.0.md").read_text(encoding="utf-8")
    assert notes == "# 2099.1.0\n\n- a is other\n  than before\n- b is new\n"
    assert re.search(r'^__version__ = "2099\.1\.0"$', (project / "harness/__init__.py").read_text(), re.MULTILINE)
    assert not list((project / ".changes" / "next").iterdir())


@pytest.mark.parametrize(
    ("version", "told"),
    [
        ([], "found '', expected year.month.number"),
        (["2099.13.0"], "found '2099.13.0', expected year.month.number"),
        (["2099.1"], "expected year.month.number"),
        (["2098.1.0"], "2098.1.0.md exists"),
    ],
)
def test_a_release_that_cannot_be_changes_nothing(project: Path, version: list[str], told: str) -> None:
    (project / ".changes" / "2098.1.0.md").touch()
    before = (project / "harness/__init__.py").read_text()
    ended = release(project, *version)
    assert ended.returncode == 2
    assert told in ended.stderr
    assert (project / "harness/__init__.py").read_text() == before
    assert len(list((project / ".changes" / "next").iterdir())) == 2


def test_a_release_without_a_change_is_none(project: Path) -> None:
    for change in (project / ".changes" / "next").iterdir():
        change.unlink()
    ended = release(project, "2099.1.0")
    assert ended.returncode == 2
    assert "holds no change" in ended.stderr
