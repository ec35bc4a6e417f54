"""The flash stage: writes what the chip does not hold yet.

What is there is told by its label: the firmware's info block, the model's header. Both stand at the start of their
image, in the page that `FlashSession.write` programs last and erases first. So a label in flash means that the image
behind it was written to its end and read back; an interrupted write leaves no label. (Bytes that change later are found
by the device: it checks the model's CRC at boot and tells its own image's.)
"""

from __future__ import annotations

from collections.abc import Sequence

from harness.domain.board import Board
from harness.domain.firmware import FirmwareImage, FlashSegment
from harness.errors import FlashError, ModelError
from harness.ports import FlashSession, Progress

INFO_OFFSET = 0x200
"""Where the info block stands in a firmware image: behind the vector table."""
INFO_BYTES = 36
"""Magic (8 bytes), version and length (4 each), build id (16 hex digits), wire protocol (4)."""
INFO_MAGIC = b"HARNFIRM"
MODEL_HEADER_BYTES = 128
"""Magic, length, CRC-32, SHA-256, build id: equal headers mean equal models."""


def flash_firmware(session: FlashSession, image: FirmwareImage, progress: Progress, *, force: bool = False) -> bool:
    """Write the firmware, unless the chip says that it holds this very build.

    Args:
        session: the chip.
        image: what to write.
        progress: told about the write.
        force: write in any case.

    Returns:
        Whether it was written.

    Raises:
        FlashError, LockedError, ProbeError: see `FlashSession`.
    """
    segment = image.segment
    info = segment.data[INFO_OFFSET : INFO_OFFSET + INFO_BYTES]
    labelled = info.startswith(INFO_MAGIC) and image.build_id.encode() in info
    if labelled and not force and _holds(session, segment.address + INFO_OFFSET, info):
        return False
    session.write(segment, progress)
    return True


def flash_model(session: FlashSession, board: Board, packed: bytes, progress: Progress, *, force: bool = False) -> bool:
    """Write the model, unless the chip holds a model with this very header.

    Args:
        session: the chip.
        board: says where the model goes.
        packed: the model behind its header.
        progress: told about the write.
        force: write in any case.

    Returns:
        Whether it was written.

    Raises:
        ModelError: it does not fit the board's flash.
        FlashError, LockedError, ProbeError: see `FlashSession`.
    """
    region = board.model_flash
    if len(packed) > region.size_bytes:
        raise ModelError(
            "the model does not fit the board's flash",
            where=board.id,
            measured=f"{len(packed) - MODEL_HEADER_BYTES} bytes",
            expected=f"at most {region.size_bytes - MODEL_HEADER_BYTES} bytes",
            hint="use a smaller model, or a board with more flash",
        )
    if not force and _holds(session, region.start, packed[:MODEL_HEADER_BYTES]):
        return False
    session.write(FlashSegment(region.start, packed), progress)
    return True


def first_difference(session: FlashSession, segments: Sequence[FlashSegment]) -> FlashError | None:
    """Read flash back and name the first byte that is not what was written; None when all is as it should be.

    Args:
        session: the chip.
        segments: what should be there.

    Raises:
        FlashError, LockedError, ProbeError: see `FlashSession`.
    """
    for segment in segments:
        found = session.read(segment.address, len(segment.data))
        address = segment.first_difference(found)
        if address is not None:
            offset = address - segment.address
            return FlashError(
                "the flash does not hold what was written",
                where=f"{address:#010x}",
                measured=f"{found[offset]:#04x}",
                expected=f"{segment.data[offset]:#04x}",
                hint="flash it anew: --force-flash; if that does not last, the chip's flash is worn",
            )
    return None


def _holds(session: FlashSession, address: int, label: bytes) -> bool:
    return session.read(address, len(label)) == label
