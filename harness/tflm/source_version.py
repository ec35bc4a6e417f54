"""Reader of what a source tree calls its state: its git commit, or the version in its package file."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

_TIMEOUT_S = 10.0
_SHOWN_DIGITS = 12
# Relative to the folder that `tensorflow/` lies in.
_PACKAGE_FILES = (
    ("idf_component.yml", re.compile(r"^version:\s*[\"']?([\w.~+-]+)", re.MULTILINE)),
    ("../library.properties", re.compile(r"^version=(\S+)", re.MULTILINE)),
)
_LIMIT_CHARACTERS = 64 * 1024


def source_version(root: Path) -> str:
    """What people would call the state of a tree; empty when nothing tells.

    Args:
        root: the folder that `tensorflow/` lies in.
    """
    return " ".join(filter(None, (_package_version(root), _commit(root))))


def _package_version(root: Path) -> str:
    for name, pattern in _PACKAGE_FILES:
        path = root / name
        if path.is_file():
            with path.open(encoding="utf-8", errors="replace") as file:
                found = pattern.search(file.read(_LIMIT_CHARACTERS))
            if found:
                return found[1]
    return ""


def _commit(root: Path) -> str:
    """The commit of a checkout, and whether it is changed since; empty for a copy inside of another project."""
    top = _git(root, "rev-parse", "--show-toplevel")
    if not top or Path(top).resolve() not in (root, root.parent):
        return ""
    commit = _git(root, "rev-parse", "HEAD")
    changed = _git(root, "status", "--porcelain", "--untracked-files=no")
    return f"{commit[:_SHOWN_DIGITS]}{' (dirty)' if changed else ''}" if commit else ""


def _git(root: Path, *arguments: str) -> str:
    """What git says; nothing when it is not installed, or the folder is none of its own.

    The tree is never written to, hence no locks; and nothing that its configuration names is run.
    """
    command = ["git", "--no-optional-locks", "-c", "core.fsmonitor=false", "-C", str(root), *arguments]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", check=False, timeout=_TIMEOUT_S
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
