"""What layouts of the flash have in common: how a firmware is known again, and a region for the models."""

from __future__ import annotations

from harness.domain.firmware import FirmwareImage, FlashPart, FlashSegment, PackedModel
from harness.errors import ModelError

INFO_BYTES = 36
"""Magic (8 bytes), version and length (4 each), build id (16 hex digits), wire protocol (4)."""
INFO_MAGIC = b"HARNFIRM"
_END_BYTES = 16


def info_labels(image: FirmwareImage) -> tuple[tuple[int, int], ...]:
    """The firmware's info block (firmware/app/build_info.cc) as a label, wherever it stands; none without one."""
    offset = image.segment.data.find(INFO_MAGIC)
    labelled = offset >= 0 and image.build_id.encode() in image.segment.data[offset : offset + INFO_BYTES]
    return ((offset, INFO_BYTES),) if labelled else ()


def model_part(image: FirmwareImage, model: PackedModel, *, end_tells: bool) -> FlashPart:
    """The models in their region, with their headers as labels.

    Args:
        image: the firmware that shall run them.
        model: the models behind their headers.
        end_tells: whether their end is a label, too.

    Raises:
        ModelError: they are larger than their region.
    """
    region = image.model_region
    if len(model.data) > region.size_bytes:
        raise ModelError(
            "the model does not fit the board's flash",
            where=image.board_id,
            measured=f"{len(model.data) - model.header_bytes:,} bytes",
            expected=f"at most {region.size_bytes - model.header_bytes:,} bytes",
            hint="use a smaller model, or a board with more flash",
        )
    headers = tuple((offset, model.header_bytes) for offset in model.header_offsets)
    end = ((len(model.data) - _END_BYTES, _END_BYTES),) if end_tells else ()
    return FlashPart(f"model {model.name}", FlashSegment(region.start, model.data), (*headers, *end))
