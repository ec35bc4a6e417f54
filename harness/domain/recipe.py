"""What is to be measured, and how."""

from __future__ import annotations

from dataclasses import dataclass

from harness.domain.board import Board
from harness.domain.firmware import FirmwareImage

MAGIC_BYTES = (0xAA, 0x55)


@dataclass(frozen=True)
class Recipe:
    """What to do with the model.

    Attributes:
        arena_size_bytes: the arena to give it; None for the largest that fits.
        inputs: the input tensors' bytes, in order; none for the firmware's own pattern.
        invokes: how often to run it on each of the two paints.
        random_seed: fill the inputs with random data made from this number; None for `inputs`.
    """

    arena_size_bytes: int | None = None
    inputs: tuple[bytes, ...] = ()
    invokes: int = 1
    random_seed: int | None = None

    @property
    def all_invokes(self) -> int:
        """How often the model has run when its outputs are read."""
        return self.invokes * len(MAGIC_BYTES)


@dataclass(frozen=True)
class Subject:
    """What is to be measured: a model that lies in the flash of a running device.

    Attributes:
        model: file name.
        sha256: of the model file, in hex.
        board: what it runs on.
        probe_id: the probe of the unit.
        image: the firmware that must be running.
    """

    model: str
    sha256: str
    board: Board
    probe_id: str
    image: FirmwareImage
