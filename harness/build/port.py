"""The firmware port of a chip family: its own folder in firmware/ports, and the shared ones that it needs.

Its `port.toml` makes a folder a port::

    needs = ["common", "cortex_m"]  # folders of firmware/ports whose sources belong to the port, too
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from harness.domain.board import Board
from harness.errors import BoardFileError, BuildError
from harness.files.toml import read_toml, refuse_unknown_keys

_DESCRIPTION = "port.toml"
_KEYS = ("needs",)
_SOURCES = ("*.cc", "*.S")


@dataclass(frozen=True)
class Port:
    """What a firmware has of its chip.

    Attributes:
        folders: the port's own first, then the shared ones.
    """

    folders: tuple[Path, ...]

    @property
    def script(self) -> Path:
        """The linker script."""
        return self.folders[0] / "linker.ld"

    def sources(self) -> list[Path]:
        """What is to be compiled, folder by folder."""
        return [path for folder in self.folders for pattern in _SOURCES for path in sorted(folder.glob(pattern))]


def find_port(board: Board, ports: Path) -> Port:
    """The port of a board's family.

    Args:
        board: which.
        ports: the folder that holds all ports.

    Raises:
        BoardFileError: there is none.
        BuildError: its `port.toml` is wrong.
    """
    known = {path.parent.name: path for path in ports.glob(f"*/{_DESCRIPTION}")}
    if board.family not in known:  # asked by name, so that `..` and the like lead nowhere
        raise BoardFileError(
            f"there is no firmware port {board.family!r}",
            where=board.id,
            expected=f"one of {', '.join(sorted(known))}",
            hint="correct `family` in the board file",
        )
    description = known[board.family]
    return Port((description.parent, *_needed(description, ports)))


def _needed(description: Path, ports: Path) -> list[Path]:
    top = read_toml(description, error=BuildError)
    refuse_unknown_keys(top, _KEYS)
    needs = list(dict.fromkeys(top.texts("needs")))
    shared = {path.relative_to(ports).as_posix() for path in ports.rglob("*") if path.is_dir()}
    missing = [name for name in needs if name not in shared]
    if missing:
        raise BuildError(
            "a folder that the port needs is missing",
            where=f"{description}: needs",
            measured=missing[0],
            expected=f"one of {', '.join(sorted(shared))}",
        )
    return [ports / name for name in needs]
