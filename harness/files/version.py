"""Which harness this is: its release and, in a checkout, the commit."""

from __future__ import annotations

import os
import subprocess
from functools import cache
from pathlib import Path

from harness import __version__

_CHECKOUT = Path(__file__).resolve().parents[2]

# Changes elsewhere, such as the user's models and results, make no other harness.
_WHAT_HARNESS_IS = ("harness", "firmware", "boards")
_TIMEOUT_S = 10


@cache
def version() -> str:
    """The version as it was when this process first asked, such as `2026.12.0`.

    In a checkout the commit follows (`2026.12.0+g1234567`), and `.dirty` when harness, firmware or boards are not as
    they are in that commit, new files included; `+unknown` when git does not say. Asking git takes some 20 ms: only
    what shows or keeps the version calls this.
    """
    if not (_CHECKOUT / ".git").exists():
        return __version__
    try:
        commit = _git("rev-parse", "--short=7", "HEAD")
        dirty = _git("status", "--porcelain", "--", *_WHAT_HARNESS_IS)
    except (OSError, subprocess.SubprocessError):
        return f"{__version__}+unknown"
    return f"{__version__}+g{commit}{'.dirty' if dirty else ''}"


def _git(*arguments: str) -> str:
    """What git says of the checkout, even when harness is called by a hook of another repository."""
    elsewhere = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    done = subprocess.run(
        ("git", "-C", str(_CHECKOUT), "--no-optional-locks", *arguments),
        env=elsewhere,
        capture_output=True,
        text=True,
        check=True,
        timeout=_TIMEOUT_S,
    )
    return done.stdout.strip()
