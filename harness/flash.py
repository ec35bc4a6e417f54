"""The flash stage: writes what the chip does not hold yet.

What is there is told by labels: bytes that stand in flash only when the part they belong to was written to its end and
read back; an interrupted write leaves a wrong one. (Bytes that change later are found by the device: it checks the
model's CRC at boot and tells its own image's.)
"""

from __future__ import annotations

from collections.abc import Sequence

from harness.domain.firmware import FlashPart, FlashSegment
from harness.errors import FlashError
from harness.ports import FlashSession, Progress


def flash_parts(
    session: FlashSession, parts: Sequence[FlashPart], progress: Progress, *, force: bool = False
) -> list[str]:
    """Write the parts that the chip does not hold.

    Args:
        session: the chip.
        parts: what it is to hold.
        progress: told about the writes.
        force: write in any case.

    Returns:
        The names of the parts that were written.

    Raises:
        FlashError, LockedError, ProbeError: see `FlashSession`.
    """
    written = []
    for part in parts:
        if force or not _holds(session, part):
            session.write(part.segment, progress)
            written.append(part.name)
    return written


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


def _holds(session: FlashSession, part: FlashPart) -> bool:
    """Whether all labels are there; a part without any never is."""
    start, data = part.segment.address, part.segment.data
    return bool(part.labels) and all(
        session.read(start + offset, size) == data[offset : offset + size] for offset, size in part.labels
    )
