"""What the flash stage writes, on a chip that is a byte array."""

from __future__ import annotations

from harness.bench.flash import first_difference, flash_parts
from harness.domain.firmware import FlashPart, FlashSegment
from harness.ports import Line

START = 0x08000000
FIRST = FlashPart("first", FlashSegment(START, bytes(range(64))), ((8, 4), (60, 4)))
SECOND = FlashPart("second", FlashSegment(START + 0x40000, b"HEADmodel"), ((0, 4),))


class ByteArrayChip:
    """Fulfils FlashSession without a probe, and counts writes."""

    def __init__(self) -> None:
        self.flash = bytearray(b"\xff" * 0x100000)
        self.written: list[int] = []

    def read(self, address: int, size_bytes: int) -> bytes:
        return bytes(self.flash[address - START :][:size_bytes])

    def write(self, segment: FlashSegment, progress) -> None:
        start = segment.address - START
        self.flash[start : start + len(segment.data)] = segment.data
        self.written.append(segment.address)
        progress("flash", len(segment.data), len(segment.data))

    def start(self, open_line) -> Line:
        return open_line()

    def restart(self, line: Line) -> None:
        raise NotImplementedError


def ignore(what: str, done: int, total: int) -> None:
    pass


def test_parts_are_written_once_and_in_order() -> None:
    chip = ByteArrayChip()
    assert flash_parts(chip, [FIRST, SECOND], ignore) == ["first", "second"]
    assert chip.read(START, 64) == FIRST.segment.data
    assert flash_parts(chip, [FIRST, SECOND], ignore) == []
    assert chip.written == [START, START + 0x40000]


def test_a_part_with_another_label_is_written_alone() -> None:
    chip = ByteArrayChip()
    flash_parts(chip, [FIRST, SECOND], ignore)
    other = FlashPart("other", FlashSegment(SECOND.segment.address, b"head" + b"model"), SECOND.labels)
    assert flash_parts(chip, [FIRST, other], ignore) == ["other"]


def test_every_label_counts() -> None:
    for damaged in (8, 63):
        chip = ByteArrayChip()
        flash_parts(chip, [FIRST], ignore)
        chip.flash[damaged] ^= 0x01
        assert flash_parts(chip, [FIRST], ignore) == ["first"]


def test_force_writes_in_any_case() -> None:
    chip = ByteArrayChip()
    flash_parts(chip, [FIRST], ignore)
    assert flash_parts(chip, [FIRST], ignore, force=True) == ["first"]


def test_a_part_without_labels_is_always_written() -> None:
    chip = ByteArrayChip()
    unlabelled = FlashPart("unlabelled", FIRST.segment, ())
    flash_parts(chip, [unlabelled], ignore)
    assert flash_parts(chip, [unlabelled], ignore) == ["unlabelled"]


def test_first_difference_names_byte_and_address() -> None:
    chip = ByteArrayChip()
    segments = [FIRST.segment, SECOND.segment]
    for segment in segments:
        chip.write(segment, ignore)
    assert first_difference(chip, segments) is None
    chip.flash[SECOND.segment.address - START + 6] ^= 0x01
    error = first_difference(chip, segments)
    assert error is not None
    assert (error.where, error.measured, error.expected) == ("0x08040006", "0x65", "0x64")
