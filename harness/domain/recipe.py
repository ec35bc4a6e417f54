"""What is to be measured, and how."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

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
class FlashedModel:
    """A model in the flash of a device.

    Attributes:
        sha256: of the model file, in hex.
        variables: how many resource variables it has.
    """

    sha256: str
    variables: int = 0


@dataclass(frozen=True)
class Subject:
    """What is to be measured: a model that lies in the flash of a running device, or several that share one arena.

    Attributes:
        model: file name; for several a name for all.
        sha256: of the model file, in hex; for several a hash of all.
        board: what it runs on.
        probe_id: the probe of the unit.
        image: the firmware that must be running.
        models: the models, in the order in which they lie in flash.
        struct_sizes: sizeof() of TFLM's structures, without their namespaces, that the estimate counts on.
    """

    model: str
    sha256: str
    board: Board
    probe_id: str
    image: FirmwareImage
    models: tuple[FlashedModel, ...]
    struct_sizes: Mapping[str, int] = field(default_factory=dict)
