"""Which version harness says that it is, in checkouts in every state."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from harness import __version__
from harness.files import version as module
from tests.support.places import CHECKOUT

_AUTHOR = {f"GIT_{who}_{what}": "a" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
_NO_SETTINGS = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}


def git(folder: Path, *arguments: str) -> str:
    elsewhere = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    done = subprocess.run(
        ("git", "-C", str(folder), *arguments),
        env=elsewhere | _AUTHOR | _NO_SETTINGS,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with one commit, which is taken for harness's own."""
    if shutil.which("git") is None:
        pytest.skip("no git: apt install git")
    for folder in ("harness", "firmware", "boards", "results"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "file").write_text("as committed", encoding="utf-8")
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "--quiet", "--message", "first")
    monkeypatch.setattr(module, "_CHECKOUT", tmp_path)
    return tmp_path


def asked_anew() -> str:
    return module.version.__wrapped__()


def test_a_checkout_says_its_commit(checkout: Path) -> None:
    assert asked_anew() == f"{__version__}+g{git(checkout, 'rev-parse', '--short=7', 'HEAD')}"


@pytest.mark.parametrize("changed", ["harness/file", "firmware/new", "boards/new"])
def test_another_harness_than_the_commits_is_dirty(checkout: Path, changed: str) -> None:
    (checkout / changed).write_text("other", encoding="utf-8")
    assert asked_anew() == f"{__version__}+g{git(checkout, 'rev-parse', '--short=7', 'HEAD')}.dirty"


@pytest.mark.parametrize("changed", ["results/file", "model.tflite"])
def test_models_and_results_make_no_other_harness(checkout: Path, changed: str) -> None:
    (checkout / changed).write_text("other", encoding="utf-8")
    assert not asked_anew().endswith(".dirty")


def test_a_hook_of_another_repository_does_not_matter(
    checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    assert git(checkout, "rev-parse", "--short=7", "HEAD") in asked_anew()


def test_an_installed_harness_says_its_release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_CHECKOUT", tmp_path)
    assert asked_anew() == __version__


def test_a_checkout_that_git_cannot_read_is_of_an_unknown_commit(checkout: Path) -> None:
    shutil.rmtree(checkout / ".git" / "objects")
    assert asked_anew() == f"{__version__}+unknown"


def test_without_git_the_commit_is_unknown(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(checkout))
    assert asked_anew() == f"{__version__}+unknown"


def test_the_version_names_year_month_and_release() -> None:
    assert re.fullmatch(r"20\d\d\.(1[0-2]|[1-9])\.\d+", __version__)


@pytest.mark.parametrize(("arguments", "asks"), [(["--version"], True), (["--help"], False), (["boards"], False)])
def test_git_is_asked_only_when_the_version_is_wanted(tmp_path: Path, arguments: list[str], asks: bool) -> None:
    if not (CHECKOUT / ".git").exists():
        pytest.skip("this is no git checkout")
    (tmp_path / "git").write_text(f"#!/bin/sh\ntouch '{tmp_path}/asked'\necho abcdef1\n", encoding="utf-8")
    (tmp_path / "git").chmod(0o755)
    run = subprocess.run(
        (sys.executable, "-m", "harness", *arguments),
        env=os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert (tmp_path / "asked").exists() == asks
    assert ("+gabcdef1" in run.stdout) == asks
