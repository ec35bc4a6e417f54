"""Folders that come with harness, firmware and board files: in the checkout, or inside an installed wheel."""

from __future__ import annotations

from pathlib import Path

from harness.errors import StorageError

_PACKAGE = Path(__file__).resolve().parents[1]


def firmware_dir() -> Path:
    """The folder `firmware/`."""
    return _find("firmware")


def boards_dir() -> Path:
    """The folder `boards/`."""
    return _find("boards")


def _find(name: str) -> Path:
    for parent in (_PACKAGE / "_data", _PACKAGE.parent):
        if (parent / name).is_dir():
            return parent / name
    raise StorageError(
        f"harness's own folder {name!r} is missing",
        where=_PACKAGE,
        hint="install harness anew, or work in a complete checkout",
    )
