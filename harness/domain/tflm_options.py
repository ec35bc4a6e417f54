"""What a user may say of a TFLM besides which one it is."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

SOURCE_KERNELS = ("reference", "cmsis-nn", "esp-nn")
"""The kernel sets that there are sources of."""


@dataclass(frozen=True)
class TflmOptions:
    """What a user may say of a source tree besides where it is.

    Attributes:
        kernels: the kernel set; None for the tree's own choice.
        include: further include folders, searched before the tree's neighbours.
        cmsis_nn, esp_nn: the folder of the library that an optimised kernel set calls; None to look for it.
    """

    kernels: str | None = None
    include: tuple[Path, ...] = ()
    cmsis_nn: Path | None = None
    esp_nn: Path | None = None
