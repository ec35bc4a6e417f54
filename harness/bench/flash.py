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
from harness.ports import FlashSession, KnowsOccupants, Packager, Progress

_ERASED = b"\xff"
_GLANCE_BYTES = 256
_OUR_MAGIC = b"HARN"
"""How both magics begin: that of the firmware's info block and that of a model's header."""
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


def refuse_others(session: FlashSession, parts: Sequence[FlashPart], packager: Packager) -> None:
    """Make sure that no part which the chip does not hold goes where something else is than harness's own.

    Args:
        session: the chip.
        parts: what it is to hold.
        packager: which may know what is there.

    Raises:
        FlashError: something else is there; it is named as far as the packager knows it.
    """
    for part in parts:
        if _holds(session, part) or _is_free(session, part):
            continue
        start, end = part.segment.address, part.segment.end
        known = packager.occupants(session.read) if isinstance(packager, KnowsOccupants) else ()
        names = [one.name for one in known if one.region.start < end and start < one.region.end]
        raise FlashError(
            f"{part.name} would be written over what harness did not put there",
            where=f"{start:#x} to {end:#x}",
            measured=", ".join(names) or "other bytes than those of erased flash",
            expected="erased flash, or what harness has written",
            hint='save it first if it matters (README, "ESP32"); without --keep-flash harness writes over it',
        )


def _is_free(session: FlashSession, part: FlashPart) -> bool:
    """Whether flash is erased where a part begins and where its first label is, or has the label of another of ours."""
    start = part.segment.address
    offset, size = part.labels[0] if part.labels else (0, _GLANCE_BYTES)
    label = session.read(start + offset, size)
    erased = not (label + session.read(start, _GLANCE_BYTES)).strip(_ERASED)
    return erased or label.startswith(_OUR_MAGIC)


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
