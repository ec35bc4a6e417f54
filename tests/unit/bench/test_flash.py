"""What the flash stage writes, on a chip that is a byte array."""

from __future__ import annotations

import struct

import pytest

from harness.bench.flash import blamed_on_flash, first_difference, flash_parts, refuse_others
from harness.domain.firmware import FlashPart, FlashSegment
from harness.errors import BenchError, FlashError, FlashMappingError
from harness.packagers.esp32 import Esp32Packager
from harness.packagers.flat import FlatPackager
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


SEEN = FlashError("the device runs something else", where="a unit", measured="missing", expected="ok")
SAID = FlashError("the chip finds no firmware", where="p")


def blamed(chip: ByteArrayChip, error: BenchError, *, mapped: bool) -> BenchError:
    return blamed_on_flash(error, chip, [FIRST.segment], "p", mapped=mapped)


def test_a_device_that_sees_something_else_in_sound_flash_reads_it_through_a_wrong_mapping() -> None:
    chip = ByteArrayChip()
    chip.write(FIRST.segment, ignore)
    error = blamed(chip, SEEN, mapped=True)
    assert isinstance(error, FlashMappingError)
    assert (error.where, error.measured, error.expected) == ("a unit", "missing", "ok")
    assert SEEN.what in error.what


@pytest.mark.parametrize(("error", "mapped"), [(SEEN, False), (SAID, True)])
def test_without_a_mapping_or_a_look_through_it_the_error_stays(error: FlashError, mapped: bool) -> None:
    chip = ByteArrayChip()
    chip.write(FIRST.segment, ignore)
    assert blamed(chip, error, mapped=mapped) is error


def test_damaged_flash_is_blamed_before_any_mapping() -> None:
    chip = ByteArrayChip()
    chip.write(FIRST.segment, ignore)
    chip.flash[5] ^= 1
    error = blamed(chip, SEEN, mapped=True)
    assert isinstance(error, FlashError)
    assert error.where == "0x08000005"


def test_nothing_is_said_of_a_mapping_when_nothing_was_written() -> None:
    assert blamed_on_flash(SEEN, ByteArrayChip(), [], "p", mapped=True) is SEEN


OURS = FlashPart("ours", FlashSegment(START, b"code" * 16 + b"HARNFIRMnew" + bytes(300)), ((64, 11),))


@pytest.mark.parametrize("there", [b"", OURS.segment.data, b"code" * 16 + b"HARNFIRMold"])
def test_erased_flash_and_our_own_may_be_written_over(there: bytes) -> None:
    chip = ByteArrayChip()
    chip.flash[: len(there)] = there
    refuse_others(chip, [OURS], FlatPackager())


@pytest.mark.parametrize("at", [0, 70])
def test_what_somebody_else_has_written_is_kept(at: int) -> None:
    chip = ByteArrayChip()
    chip.flash[at] = 0
    with pytest.raises(FlashError, match="did not put there") as refusal:
        refuse_others(chip, [OURS], FlatPackager())
    assert refusal.value.where == "0x8000000 to 0x8000177"
    assert "--keep-flash" in refusal.value.hint


class Esp32Chip(ByteArrayChip):
    """Flash that begins at 0."""

    def read(self, address: int, size_bytes: int) -> bytes:
        return super().read(START + address, size_bytes)


def test_what_esp_idf_has_written_is_named() -> None:
    chip = Esp32Chip()
    chip.flash[0x1000:0x1004] = b"\xe9\x03\x02\x20"
    for number, (label, offset, size) in enumerate(((b"nvs", 0x9000, 0x6000), (b"factory", 0x10000, 0x80000))):
        entry = struct.pack("<HBBII16sI", 0x50AA, 0, 0, offset, size, label, 0)
        chip.flash[0x8000 + 32 * number : 0x8020 + 32 * number] = entry
    firmware = FlashPart("firmware", FlashSegment(0x1000, bytes(0x20000)), ((0x1F000, 36),))
    model = FlashPart("model", FlashSegment(0x80000, bytes(0x1000)), ((0, 128),))
    with pytest.raises(FlashError) as refusal:
        refuse_others(chip, [model, firmware], Esp32Packager())
    assert refusal.value.what.startswith("firmware")
    assert refusal.value.measured == "boot loader, partition table, nvs, factory"
    chip.flash[0x80010] = 0
    with pytest.raises(FlashError) as refusal:
        refuse_others(chip, [model], Esp32Packager())
    assert refusal.value.measured == "factory"
