"""Firmware and model lie in flash as they are read, each in a region of its own."""

from __future__ import annotations

from collections.abc import Sequence

from harness.domain.firmware import FirmwareImage, FlashPart, PackedModel
from harness.packagers.pieces import info_labels, model_part


class FlatPackager:
    """Two parts: a new model leaves the firmware alone.

    Their labels are the firmware's info block and the model's header. Both stand at the start of their part, in the
    page that `FlashSession.write` programs last and erases first. Further models are known by their headers and by the
    last bytes of all: an interrupted write can leave their headers, but not that end.
    """

    def parts(self, image: FirmwareImage, model: PackedModel | None) -> Sequence[FlashPart]:
        """See `ports.Packager`."""
        firmware = FlashPart(f"firmware {image.build_id}", image.segment, info_labels(image))
        if model is None:
            return [firmware]
        return [firmware, model_part(image, model, end_tells=len(model.header_offsets) > 1)]
