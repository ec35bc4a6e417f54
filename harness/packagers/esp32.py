"""What the ROM copies into RAM and what is read in place are one part, the model is another."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from harness.domain.board import Occupant
from harness.domain.firmware import FirmwareImage, FlashPart, PackedModel
from harness.packagers.idf_partitions import read_partitions
from harness.packagers.pieces import info_labels, model_part

_START_BYTES = 160
"""The image's header, that of its first segment, and the first bytes in it."""
_HASH_BYTES = 32


class Esp32Packager:
    """Two parts: a new model leaves the firmware alone.

    Both are written by a boot loader, which erases their ends first and writes them last, so that the ends are labels,
    too: that of the firmware is a hash of all of it. So is the firmware's start, where other programs put their own.
    """

    def parts(self, image: FirmwareImage, model: PackedModel | None) -> Sequence[FlashPart]:
        """See `ports.Packager`."""
        labels = info_labels(image)
        hash_offset = len(image.segment.data) - _HASH_BYTES
        ends = ((0, _START_BYTES), (hash_offset, _HASH_BYTES)) if labels else ()
        firmware = FlashPart(f"firmware {image.build_id}", image.segment, (*labels, *ends))
        return [firmware] if model is None else [firmware, model_part(image, model, end_tells=True)]

    def occupants(self, read: Callable[[int, int], bytes]) -> Sequence[Occupant]:
        """See `ports.KnowsOccupants`."""
        return read_partitions(read)
