"""The flash stage: writes what the chip does not hold yet.

What is there is told by labels: bytes that stand in flash only when the part they belong to was written to its end and
read back; an interrupted write leaves a wrong one. (Bytes that change later are found by the device: it checks the
model's CRC at boot and tells its own image's.)
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from harness.domain.firmware import FlashPart, FlashSegment
from harness.errors import BenchError, DeadlineError, FlashError, FlashMappingError, ProtocolError
from harness.ports import FlashSession, Progress

FLASH_SYMPTOMS = (FlashError, FlashMappingError, DeadlineError, ProtocolError)
"""Errors behind which damaged flash may be."""


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


def blamed_on_flash(
    error: BenchError, session: FlashSession, segments: Sequence[FlashSegment], port: str, *, mapped: bool
) -> BenchError:
    """The first wrong byte in flash, where there is one, instead of what it led to: damaged firmware may say nothing.

    Args:
        error: what broke.
        session: the chip.
        segments: what its flash should hold.
        port: the device's serial port.
        mapped: whether the device reads its flash through a mapping that can be wrong.

    Returns:
        `error`, when flash is as it should be or cannot be read, or when it is not about flash or the device's words;
        when flash is as it should be and the device says otherwise, that it is the mapping.
    """
    if not isinstance(error, FlashError) and error.where != port:
        return error
    with suppress(BenchError):  # what broke first is what there is to say
        difference = first_difference(session, segments)
        seen_by_device = isinstance(error, FlashError) and error.where != port
        return difference or (_mapping_error(error) if mapped and segments and seen_by_device else error)
    return error


def _mapping_error(error: BenchError) -> FlashMappingError:
    return FlashMappingError(
        f"the chip's flash holds what was written, but the chip reads something else in place ({error.what})",
        where=error.where,
        measured=error.measured,
        expected=error.expected,
        hint="cut the board's power and run again; if it stays, the cache of this chip does not obey its registers",
    )


def _holds(session: FlashSession, part: FlashPart) -> bool:
    """Whether all labels are there; a part without any never is."""
    start, data = part.segment.address, part.segment.data
    return bool(part.labels) and all(
        session.read(start + offset, size) == data[offset : offset + size] for offset, size in part.labels
    )
