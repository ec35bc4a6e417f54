"""Firmware and model lie in flash as they are read, each in a region of its own."""

from __future__ import annotations

from collections.abc import Sequence

from harness.domain.firmware import FirmwareImage, FlashPart, FlashSegment, PackedModel
from harness.errors import ModelError

INFO_BYTES = 36
"""Magic (8 bytes), version and length (4 each), build id (16 hex digits), wire protocol (4)."""
INFO_MAGIC = b"HARNFIRM"
_END_BYTES = 16


class FlatPackager:
    """Two parts: a new model leaves the firmware alone.

    Their labels are the firmware's info block and the model's header. Both stand at the start of their part, in the
    page that `FlashSession.write` programs last and erases first. Further models are known by their headers and by the
    last bytes of all: an interrupted write can leave their headers, but not that end.
    """

    def parts(self, image: FirmwareImage, model: PackedModel | None) -> Sequence[FlashPart]:
        """See `ports.Packager`."""
        firmware = FlashPart(f"firmware {image.build_id}", image.segment, _firmware_labels(image))
        return [firmware] if model is None else [firmware, _model_part(image, model)]


def _firmware_labels(image: FirmwareImage) -> tuple[tuple[int, int], ...]:
    """The info block, which stands behind the vector table, however long that is."""
    offset = image.segment.data.find(INFO_MAGIC)
    labelled = offset >= 0 and image.build_id.encode() in image.segment.data[offset : offset + INFO_BYTES]
    return ((offset, INFO_BYTES),) if labelled else ()


def _model_part(image: FirmwareImage, model: PackedModel) -> FlashPart:
    region = image.model_region
    if len(model.data) > region.size_bytes:
        raise ModelError(
            "the model does not fit the board's flash",
            where=image.board_id,
            measured=f"{len(model.data) - model.header_bytes:,} bytes",
            expected=f"at most {region.size_bytes - model.header_bytes:,} bytes",
            hint="use a smaller model, or a board with more flash",
        )
    segment = FlashSegment(region.start, model.data)
    headers = tuple((offset, model.header_bytes) for offset in model.header_offsets)
    end = ((len(model.data) - _END_BYTES, _END_BYTES),) if len(headers) > 1 else ()
    return FlashPart(f"model {model.name}", segment, (*headers, *end))
